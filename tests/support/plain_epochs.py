"""Models with epochs and values, explored by plain Python, and a normal form by sorting.

It shares nothing with the checker's: a file is run as it stands, with numbers for epochs and
values, and states are compared by what the order of their epochs and the sameness of their values
come to. A behaviour of so many steps needs so many epochs; so within that many bounds it is all
that there is without.
"""

from __future__ import annotations

from typing import Any

from tests.support.plain_python import PlainState, asking, decoded, steps_of
from waterline.checker.problem.problem import Problem
from waterline.model.own.fields import Epoch, Log, Opaque, Queue
from waterline.model.own.state_class import bounds_of, call_within

State = tuple[Any, ...]


class Explored:
    """The normal forms of all states at each depth, and when each claim is broken first."""

    def __init__(self) -> None:
        self.levels: list[set[State]] = []
        self.broken: dict[str, int] = {}
        self.states = 0
        """How many there are, as the checker has them."""

    @property
    def all(self) -> set[State]:
        """Those of all depths."""
        return set().union(*self.levels)

    def note(self, claim: Any, depth: int, is_so: bool) -> None:
        """A claim that is not so is broken at the least depth."""
        if not is_so:
            self.broken.setdefault(claim.__name__, depth)


def declared(text: str, name: str, **bounds: int) -> Any:
    """A protocol of a text, whose rules plain Python can run."""
    names: dict[str, Any] = {"__name__": "m"}
    exec(compile(text, "m.py", "exec"), names)
    protocol = call_within(names[name], {**bounds_of(names[name]), **bounds})
    names["when"] = asking
    return protocol


def explored_within(text: str, name: str, depth: int, **bounds: int) -> Explored:
    """What plain Python reaches in so many steps within these bounds."""
    protocol = declared(text, name, **bounds)
    start = PlainState(protocol.fields, bounds)
    found, seen = Explored(), {start.frozen()}
    level = [start]
    for at in range(depth + 1):
        found.levels.append({normal(protocol.fields, state.frozen()) for state in level})
        for state in level:
            for claim in protocol.always:
                found.note(claim, at, claim(state))
        if at == depth:
            break
        following = []
        for state in level:
            for action in protocol.actions:
                for after in steps_of(protocol, action, state):
                    for claim in protocol.every_step:
                        found.note(claim, at, claim(state, after))
                    if after.frozen() not in seen:
                        seen.add(after.frozen())
                        following.append(after)
        level = following
    return found


def explored_without(problem: Problem, fields: Any, depth: int) -> Explored:
    """What the checker's rules, run by Python, reach in so many steps without bounds."""
    model = problem.model
    always = [(claim.name, claim.holds) for claim in problem.invariants]
    steps = [(claim.name, claim.keeps) for claim in problem.properties]
    found, seen = Explored(), set(model.initial)
    level = list(model.initial)
    for at in range(depth + 1):
        found.levels.append({normal(fields, decoded(fields, state)) for state in level})
        for state in level:
            for name, holds in always:
                if not holds(state, model.settings):
                    found.broken.setdefault(name, at)
        if at == depth:
            break
        following = []
        for state in level:
            for step in model.successors(state):
                for name, keeps in steps:
                    if not keeps(state, step.outcome, model.settings):
                        found.broken.setdefault(name, at)
                if step.after not in seen:
                    seen.add(step.after)
                    following.append(step.after)
        level = following
    found.states = len(seen)
    return found


def normal(fields: Any, state: State) -> State:
    """A state with its epochs numbered in their order, and values as they first appear."""
    epochs: dict[Any, set[int]] = {}
    values: dict[Any, dict[Any, int]] = {}
    for field, value in zip(fields, state, strict=True):
        sort = _sort(field)
        for each in _flat(value) if sort is not None else ():
            if isinstance(sort, Opaque):
                if each is not None:
                    known = values.setdefault(sort, {})
                    known.setdefault(each, len(known))
            elif each:
                epochs.setdefault(sort, set()).add(each)
    ranks = {
        sort: {each: rank for rank, each in enumerate(sorted(found), start=1)}
        for sort, found in epochs.items()
    }
    names = {**ranks, **values}
    return tuple(
        _renamed(value, names.get(sort, {})) if (sort := _sort(field)) is not None else value
        for field, value in zip(fields, state, strict=True)
    )


def _sort(field: Any) -> Any:
    element = field.element if isinstance(field, Queue | Log) else field
    is_one = isinstance(element, Epoch) or isinstance(getattr(element, "of", None), Opaque)
    return element.of if is_one else None


def _flat(value: Any) -> list[Any]:
    return [each for part in value for each in _flat(part)] if isinstance(value, tuple) else [value]


def _renamed(value: Any, names: dict[Any, int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(each, names) for each in value)
    return names.get(value, value)
