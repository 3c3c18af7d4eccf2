"""What is known of a state while a rule is looked at, in place of the state itself.

A world is a set of states: of each element of a field it has the values that the element may have.
Where a rule goes two ways, a world parts in two; worlds that no longer differ in anything that
matters are put together again. Values are taken for possible rather than left out, so whatever is
the same in all worlds is so in every state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from checker.reduced.decisions import Cell

Fields = frozenset[str]
NOTHING: Fields = frozenset()
VALUES_MAX = 70
"""More values than that are not told apart: a number may be any."""


@dataclass(frozen=True, slots=True)
class Number:
    """What a number may be, None for anything, and the fields that it was made of."""

    values: frozenset[int] | None
    made_of: Fields = NOTHING

    @property
    def is_known(self) -> bool:
        """Whether it can have one value only."""
        return self.values is not None and len(self.values) == 1

    @property
    def value(self) -> int:
        """The value that it has, being known."""
        assert self.values is not None
        (value,) = self.values
        return value

    def may_be(self, truth: bool) -> bool:
        """Whether it may be true, or false."""
        return self.values is None or any(bool(value) is truth for value in self.values)


def known(value: int) -> Number:
    """A number that is the same in every state."""
    return Number(frozenset((int(value),)))


def either(numbers: Iterable[Number]) -> Number:
    """A number that is one of these."""
    values: frozenset[int] | None = frozenset()
    made_of = NOTHING
    for number in numbers:
        made_of |= number.made_of
        values = None if values is None or number.values is None else values | number.values
    return Number(values, made_of)


def computed(function: Callable[..., Any], *numbers: Number) -> Number:
    """What a function makes of any of the values that these may have."""
    made_of = NOTHING.union(*[number.made_of for number in numbers])
    if all(number.is_known for number in numbers):
        with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError):
            return Number(frozenset((int(function(*[n.value for n in numbers])),)), made_of)
    sets = [number.values for number in numbers]
    if any(values is None for values in sets):
        return Number(None, made_of)
    found: set[int] = set()
    for values in product(*(sorted(values) for values in sets if values is not None)):
        try:
            found.add(int(function(*values)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return Number(None, made_of)
        if len(found) > VALUES_MAX:
            return Number(None, made_of)
    return Number(frozenset(found), made_of)


@dataclass(frozen=True, slots=True)
class World:
    """Some states, at one place of a rule.

    `cells` are the elements of which more is known than of their field, `variables` those of the
    function. `changed` are the elements that may have been written on the way here. Of the watched
    elements `written` are those that were written on the way here, and `read` those that were read
    while they had not been. `decided_by` are the fields that decided that the rule came here.
    """

    cells: dict[Cell, frozenset[int]] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    written: frozenset[Cell] = frozenset()
    read: frozenset[Cell] = frozenset()
    decided_by: Fields = NOTHING
    changed: frozenset[Cell] = frozenset()

    def written_to(self, cell: Cell, values: frozenset[int]) -> World:
        """The same, after one of these values was written to an element."""
        changed = self.changed if cell in self.changed else self.changed | {cell}
        return replace(self, cells={**self.cells, cell: values}, changed=changed)

    def assigned(self, name: str, value: Any) -> World:
        """The same, where a variable stands for something."""
        return replace(self, variables={**self.variables, name: value})

    def because_of(self, fields: Fields) -> World:
        """The same, these fields having decided that the rule came here."""
        if fields <= self.decided_by:
            return self
        return replace(self, decided_by=self.decided_by | fields)


def _alike(value: Any) -> Any:
    if isinstance(value, Number):
        return value.values
    if isinstance(value, tuple):
        return tuple(map(_alike, value))
    return id(value)


def _put_together(values: list[Any]) -> Any:
    if isinstance(values[0], Number):
        return either(values)
    if isinstance(values[0], tuple):
        return tuple(_put_together(list(items)) for items in zip(*values, strict=True))
    return values[0]


def merged(worlds: list[tuple[World, Any]]) -> list[tuple[World, Any]]:
    """The same worlds, each with a value, those together that differ in elements alone."""
    if len(worlds) < 2:
        return worlds
    groups: dict[Any, list[tuple[World, Any]]] = {}
    for world, value in worlds:
        variables = frozenset([(name, _alike(each)) for name, each in world.variables.items()])
        groups.setdefault((variables, world.written, world.read, _alike(value)), []).append(
            (world, value)
        )
    return [group[0] if len(group) == 1 else _as_one(group) for group in groups.values()]


def _as_one(group: list[tuple[World, Any]]) -> tuple[World, Any]:
    first = group[0][0]
    common = set(first.cells).intersection(*(world.cells for world, _ in group))
    cells = {cell: frozenset().union(*(w.cells[cell] for w, _ in group)) for cell in common}
    variables = {
        name: _put_together([world.variables[name] for world, _ in group])
        for name in first.variables
    }
    decided_by = NOTHING.union(*(world.decided_by for world, _ in group))
    changed = frozenset[Cell]().union(*(world.changed for world, _ in group))
    value = _put_together([value for _, value in group])
    return World(cells, variables, first.written, first.read, decided_by, changed), value
