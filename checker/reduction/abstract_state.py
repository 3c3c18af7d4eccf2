"""Abstract state: a set of possible values for each field element.

A world is a set of states: of each element of a field it has the values that the element may have.
Where a rule goes two ways, a world parts in two; worlds that no longer differ in anything that
matters are put together again. Values are taken for possible rather than left out, so whatever is
the same in all worlds is so in every state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from checker.reduction.plan import Cell

Fields = frozenset[str]
NOTHING: Fields = frozenset()
VALUES_MAX = 70
"""More values than that are not distinguished: a number may be any."""
Value = Any
"""A `Number`, several, the state, the settings, or a thing that a module has a name for."""


class TooIntricate(Exception):
    """A rule has too many paths, or something that is not understood."""


class _StateOf:
    """Stands for the state in a rule."""


class _Settings:
    """Stands for the settings in a rule."""


STATE, SETTINGS = _StateOf(), _Settings()


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
        if self.values is None:
            return True
        return len(self.values) > (0 in self.values) if truth else 0 in self.values

    def where(self, truth: bool) -> Number:
        """The same, where it is true, or false."""
        if self.values is None:
            return self
        return Number(frozenset(v for v in self.values if bool(v) is truth), self.made_of)

    def made_of_too(self, fields: Fields) -> Number:
        """The same, made of these fields as well."""
        return self if fields <= self.made_of else Number(self.values, self.made_of | fields)


@functools.cache
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


def made_of_too(value: Value, fields: Fields) -> Value:
    """The same, these fields having decided that it is this one."""
    if isinstance(value, tuple):
        return tuple(made_of_too(item, fields) for item in value)
    return value.made_of_too(fields) if isinstance(value, Number) else value


def computed(function: Callable[..., Any], *numbers: Number) -> Number:
    """What a function makes of any of the values that these may have."""
    made_of = NOTHING
    for number in numbers:
        made_of = made_of | number.made_of if made_of else number.made_of
    return Number(_results(function, *[number.values for number in numbers]), made_of)


@functools.lru_cache(maxsize=100_000)
def _results(function: Callable[..., Any], *sets: frozenset[int] | None) -> frozenset[int] | None:
    known_sets = [values for values in sets if values is not None]
    if len(known_sets) < len(sets):
        return None
    found: set[int] = set()
    for values in product(*map(sorted, known_sets)):
        try:
            found.add(int(function(*values)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        if len(found) > VALUES_MAX:
            return None
    return frozenset(found)


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
        cells = {**self.cells, cell: values}
        return World(cells, self.variables, self.written, self.read, self.decided_by, changed)

    def assigned(self, name: str, value: Any) -> World:
        """The same, where a variable stands for something."""
        return self.with_variables({**self.variables, name: value})

    def with_variables(self, variables: dict[str, Value]) -> World:
        """The same, with these variables and no others."""
        return World(self.cells, variables, self.written, self.read, self.decided_by, self.changed)

    def because_of(self, fields: Fields) -> World:
        """The same, these fields having decided that the rule came here."""
        if fields <= self.decided_by:
            return self
        return self.as_decided_by(self.decided_by | fields)

    def as_decided_by(self, fields: Fields) -> World:
        """The same, these fields and no others having decided that the rule came here."""
        if fields is self.decided_by:
            return self
        return World(self.cells, self.variables, self.written, self.read, fields, self.changed)


def _alike(value: Value) -> Any:
    """What tells values apart: not what they are made of."""
    if isinstance(value, Number):
        return value.values
    if isinstance(value, tuple):
        return tuple(map(_alike, value))
    return id(value)


def _alike_all(variables: dict[str, Value]) -> Any:
    return frozenset(
        [
            (name, value.values if type(value) is Number else _alike(value))
            for name, value in variables.items()
        ]
    )


def _put_together(values: list[Value]) -> Value:
    first = values[0]
    if all(value is first for value in values):
        return first
    if isinstance(first, Number):
        return either(values)
    if isinstance(first, tuple):
        return tuple(_put_together(list(items)) for items in zip(*values, strict=True))
    return first


def merged(worlds: list[tuple[World, Value]]) -> list[tuple[World, Value]]:
    """The same worlds, each with a value, those together that differ in elements alone."""
    if len(worlds) < 2:
        return worlds
    variables: dict[int, Any] = {}
    groups: dict[Any, list[tuple[World, Value]]] = {}
    for each in worlds:
        world, value = each
        at = id(world.variables)
        if at not in variables:
            variables[at] = _alike_all(world.variables)
        key = (variables[at], world.written, world.read, _alike(value))
        groups.setdefault(key, []).append(each)
    if len(groups) == len(worlds):
        return worlds
    return [group[0] if len(group) == 1 else _as_one(group) for group in groups.values()]


def _as_one(group: list[tuple[World, Value]]) -> tuple[World, Value]:
    first = group[0][0]
    cells, decided_by, changed = first.cells, first.decided_by, first.changed
    variables = first.variables
    for world, _ in group[1:]:
        if world.cells is not cells:
            others = world.cells
            cells = {c: v | others[c] for c, v in cells.items() if c in others}
        decided_by |= world.decided_by
        changed |= world.changed
    if any(world.variables is not variables for world, _ in group):
        variables = {
            name: _put_together([world.variables[name] for world, _ in group]) for name in variables
        }
    value = _put_together([value for _, value in group])
    return World(cells, variables, first.written, first.read, decided_by, changed), value
