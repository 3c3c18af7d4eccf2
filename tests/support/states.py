"""States for tests: reached by naming steps, or made by hand; and what differs between two.

No rule of the protocol is here. `run` asks the model, and the rest only reads and writes fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from waterline.model.core.layout import Layout
from waterline.model.core.state import Draft, NotAlive, State, as_dict
from waterline.model.core.transition_system import Action, Arguments, Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.terms import FETCHING, LEADER

Index = tuple[int, ...]
Changes = dict[str, tuple[int | None, int | None]]


def model_of(version: str, **options: Any) -> Model:
    """A version in the documented environment, but for `options`."""
    return message_model(version, Environment(**options))


def bound(model: Model, step: str) -> tuple[Action, Arguments]:
    """`ShrinkIsr leader=0 follower=1` as the model's action and its arguments."""
    name, *given = step.split()
    action = next(action for action in model.actions if action.name == name)
    values = dict(each.split("=") for each in given)
    assert list(values) == [parameter.name for parameter in action.parameters], step
    return action, tuple(int(value) for value in values.values())


def is_enabled(model: Model, state: State, step: str) -> bool:
    return model.is_enabled(state, *bound(model, step))


def after(model: Model, state: State, step: str) -> State:
    """The state after one step, which the model must offer within its bounds."""
    action, arguments = bound(model, step)
    assert model.is_enabled(state, action, arguments), f"{step} is not enabled"
    cut = model.limits[model.exceeded_limit(state, action, arguments)]
    assert cut == "within", f"{step} exceeds {cut}"
    return model.apply(state, action, arguments)


def run(model: Model, *steps: str, start: State | None = None) -> State:
    """The state after all the steps, from the initial state unless told otherwise."""
    state = model.initial[0] if start is None else start
    for step in steps:
        state = after(model, state, step)
    return state


def exchange(follower: int) -> tuple[str, str, str]:
    """One fetch of a follower, from the request to the answer."""
    return (
        f"SendFetch follower={follower}",
        f"LeaderFetch follower={follower}",
        f"RecvFetch follower={follower}",
    )


def cells(values: dict[str, Any]) -> Iterator[tuple[str, Index, int]]:
    """Every element that is given: lists from index 0, dicts by index, None is left out."""

    for name, value in values.items():
        found: list[tuple[tuple[int, ...], int]] = []
        _within(value, (), found)
        for index, element in found:
            yield name, index, element


def _within(value: Any, index: tuple[int, ...], found: list[tuple[tuple[int, ...], int]]) -> None:
    if isinstance(value, list):
        for i, each in enumerate(value):
            _within(each, (*index, i), found)
    elif isinstance(value, dict):
        for i, each in value.items():
            _within(each, (*index, *(i if isinstance(i, tuple) else (i,))), found)
    elif value is not None:
        found.append((index, value))


def put(draft: State, name: str, index: Index, value: int) -> None:
    if not index:
        setattr(draft, name, value)
    else:
        getattr(draft, name)[index if len(index) > 1 else index[0]] = value


def edited(start: State, **fields: Any) -> State:
    """`start` with other values in some fields; what its new roles give no meaning is left out.

    A row is a list of its first elements or a dict by index: `leo=[1, 1]`, `log={(0, 0): 1}`.
    """
    draft = start.draft() if "role" not in fields else in_roles(start, fields.pop("role"))
    for name, index, value in cells(fields):
        put(draft, name, index, value)
    return draft.freeze()


def in_roles(start: State, roles: Any) -> Draft:
    """`start` with these roles, and of the rest what still means something."""
    draft = State(start.layout).draft()
    values = as_dict(start)
    for name, index, value in cells({"role": values.pop("role")}):
        put(draft, name, index, value)
    for name, index, value in cells({"role": roles}):
        put(draft, name, index, value)
    for name, index, value in cells(values):
        with suppress(NotAlive):
            put(draft, name, index, value)
    return draft


def hand_made(model: Model, **fields: Any) -> State:
    """A state in which every field not named has its lowest value."""
    return edited(State(model.layout), **fields)


def agreed(model: Model, **more: Any) -> State:
    """Two records on two brokers, committed, acknowledged, and below both high watermarks."""
    return hand_made(
        model,
        role=[LEADER, FETCHING],
        up=[1, 1],
        leader=0,
        epoch=1,
        known_epoch=[1, 1],
        isr=0b11,
        known_isr={0: 0b11},
        leo=[2, 2],
        log=[[1, 2], [1, 2]],
        hw=[2, 2],
        remote_leo={(0, 1): 2},
        produced=2,
        record_epoch=[0, 1],
        acked=0b11,
        exposed=[1, 2],
        exposed_end=2,
        **more,
    )


def packed(layout: Layout, values: dict[str, Any]) -> State:
    """The state that holds exactly these values and has zero bits everywhere else."""
    draft = State(layout).draft()
    decisive = {f.alive.field for f in layout.fields if f.alive is not None}
    for name in sorted(values, key=lambda name: name not in decisive):
        for _, index, value in cells({name: values[name]}):
            draft._write(layout.places[name], index, value)
    return draft.freeze()


def changes(before: State, after: State) -> Changes:
    """What differs, element by element: `{"leo[0]": (0, 1)}`; None is an element not alive.

    An element that comes or goes with a role, at its lowest value, says nothing and is left out.
    """
    old = {(name, index): value for name, index, value in cells(as_dict(before))}
    new = {(name, index): value for name, index, value in cells(as_dict(after))}
    lowest = {field.name: field.lo for field in before.layout.fields}
    found = {}
    for name, index in {**old, **new}:
        pair = old.get((name, index)), new.get((name, index))
        if pair[0] != pair[1] and set(pair) != {None, lowest[name]}:
            found[name + "".join(f"[{i}]" for i in index)] = pair
    return found


def changed_by(model: Model, state: State, step: str) -> Changes:
    """All that one step changes, the step being one that the model offers."""
    result = after(model, state, step)
    assert packed(result.layout, as_dict(result)) == result, "what is not alive is not zero"
    return changes(state, result)
