"""The reduced model: normal form, actions and states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from checker.reduction.deferred_choice import choosing, extended, gathering
from checker.reduction.generated import made
from checker.reduction.plan import AtOnce, Dead, Decisions, Postponed
from model.core.layout import Layout, Place
from model.core.state import Draft, State, as_dict
from model.core.transition_system import Action, Model


def smaller_model(model: Model, decisions: Decisions) -> Model:
    """The model that these decisions make of another."""
    postponed = decisions.postponed
    layout = extended(model.layout, postponed)
    by_name = {action.name: action for action in model.actions}
    for each in postponed:
        for name in each.others:
            by_name[name] = choosing(by_name[name], each)
    gone = {*decisions.actions, *decisions.never, *decisions.writers}
    text, names = _settling(model, decisions)
    settle = made(text, names)["settle"]
    initial = tuple(
        _settled(state, layout, postponed, settle, model.settings) for state in model.initial
    )
    return replace(
        model,
        layout=layout,
        actions=tuple(
            replace(by_name[action.name], stays_normal=False) for action in model.actions
        ),
        contents=tuple(name for name in model.contents if name not in gone),
        initial=tuple(dict.fromkeys(initial)),
        normalise=settle,
    )


def _settled(
    state: State,
    layout: Layout,
    postponed: tuple[Postponed, ...],
    settle: Callable[[Draft, Any], None],
    settings: Any,
) -> State:
    """An initial state as the smaller model has it."""
    draft = State(layout).draft()
    values = as_dict(state)
    deciding = {f.alive.field for f in layout.fields if f.alive is not None}
    for name in sorted(values, key=lambda name: name not in deciding):
        _put(draft, name, values[name])
    for each in postponed:
        rows = getattr(draft, each.field)
        for row in range(layout.places[each.field].shape[0]):
            getattr(draft, each.possible)[row] = 1 << rows[row] - each.lo
            rows[row] = each.lo
    settle(draft, settings)
    return draft.freeze()


def _put(draft: State, name: str, value: object) -> None:
    if not isinstance(value, list):
        setattr(draft, name, value)
        return
    for i, row in enumerate(value):
        if isinstance(row, list):
            for j, element in enumerate(row):
                if element is not None:
                    getattr(draft, name)[i, j] = element
        elif row is not None:
            getattr(draft, name)[i] = row


def _settling(model: Model, decisions: Decisions) -> tuple[str, dict[str, object]]:
    """What runs after every effect: normal form, forgetting, gathering, quiet steps."""
    names: dict[str, object] = {}
    text = "def settle(s, c):\n"
    if model.normalise is not None:
        names["normal_form"] = model.normalise
        text += "    normal_form(s, c)\n"
    for name in decisions.fields:
        text += _forgetting(model.layout.places[name])
    by_name = {action.name: action for action in model.actions}
    for each in decisions.postponed:
        more, stand_for = gathering(each, by_name)
        text += more
        names |= stand_for
    for number, step in enumerate(decisions.at_once):
        text += _taking(step, number, model.layout)
        action: Action = by_name[step.action]
        names |= {f"may_{number}": action.guard, f"do_{number}": action.effect}
    held = {each.field: each for each in decisions.postponed}
    for dead in decisions.dead:
        text += _now_and_then(dead, model, held.get(dead.field))
    return text + "    return\n", names


def _now_and_then(dead: Dead, model: Model, postponed: Postponed | None) -> str:
    """A field is put to its lowest value while it is dead; of a postponed one, what it may be."""
    spent = dict.fromkeys(
        f"s.{action.budget.used} >= c.{action.budget.setting}"
        for action in model.enabled_actions
        if action.budget is not None and action.budget.used in dead.spent
    )
    place = model.layout.places[dead.field]
    while_dead = [f"s.{dead.deciding}[{_row(place)}] == {value}" for value in dead.values]
    text = _forgetting(place, while_dead)
    if postponed is not None:
        was = f"s.{place.name}[{_row(place)}] = {place.lo}"
        text = text.replace(was, f"s.{postponed.possible}[{_row(place)}] = 1")
    if not spent:
        return text
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    return f"    if {' and '.join(spent)}:\n{indented}"


def _forgetting(place: Place, only: Sequence[str] = ()) -> str:
    """A field is put to its lowest value, in the rows where one of these holds if there are any."""
    if not place.shape:
        return f"    s.{place.name} = {place.lo}\n"
    index = [_row(place), f"j_{place.name}"][: len(place.shape)]
    conditions = [only]
    if place.alive is not None:
        conditions.append(
            [f"s.{place.alive.field}[{index[0]}] == {value}" for value in place.alive.values]
        )
    lines = [f"for {index[0]} in range({place.shape[0]}):"]
    lines += [f"if {' or '.join(condition)}:" for condition in conditions if condition]
    lines += [f"for {each} in range({place.shape[1]}):" for each in index[1:]]
    lines.append(f"s.{place.name}[{', '.join(index)}] = {place.lo}")
    return "".join(f"{'    ' * depth}{line}\n" for depth, line in enumerate(lines, 1))


def _row(place: Place) -> str:
    return f"i_{place.name}"


def _taking(step: AtOnce, number: int, layout: Layout) -> str:
    """A quiet step is taken, and taken back where it turns out not to be quiet."""
    given = "".join(f", {argument}" for argument in step.arguments)
    text = f"    if may_{number}(s, c{given}):\n"
    if not step.compared:
        return text + f"        do_{number}(s, c{given})\n"
    deciding = {f.alive.field for f in layout.fields if f.alive is not None}
    cells = [*step.compared, *step.changes]
    cells.sort(key=lambda cell: cell[0] not in deciding)
    olds = {cell: f"old_{number}_{at}" for at, cell in enumerate(cells)}
    for cell, old in olds.items():
        text += f"        {old} = {_element(cell, layout)}\n"
    text += f"        do_{number}(s, c{given})\n"
    differ = " or ".join(f"{_element(cell, layout)} != {olds[cell]}" for cell in step.compared)
    text += f"        if {differ}:\n"
    for cell, old in olds.items():
        text += f"            {_element(cell, layout)} = {old}\n"
    return text


def _element(cell: tuple[str, int, int], layout: Layout) -> str:
    """`s.log[1, 0]`"""
    name, *indices = cell
    at = ", ".join(str(i) for i in indices[: len(layout.places[name].shape)])
    return f"s.{name}[{at}]" if at else f"s.{name}"
