"""Memo of abstract calls, keyed by everything they read.

What a call comes to depends on its arguments, and on what it asks of the state: what some elements
may be, whether they were written, whether worlds part there, what follows for other elements.
Where all of these have the same answers, it goes the same way, in whatever state and for whatever
purpose it is looked at: it is gone through once. The elements that are asked of are noted as they
are asked (`Elements.asked`), so that nothing has to be known of a rule beforehand; what is asked of
no element is no part of the key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from checker.compiler.source import Source
from checker.reduction.abstract_state import Fields, Number, World
from checker.reduction.elements import Elements, Seen
from checker.reduction.plan import Cell

Ends = list[tuple[World, Any]]
"""The worlds in which a call ends, each with what it returns."""


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """How a world in which a call ends differs from the one in which it began; what it returns."""

    cells: dict[Cell, frozenset[int]]
    written: frozenset[Cell]
    read: frozenset[Cell]
    changed: frozenset[Cell]
    value: Any

    @staticmethod
    def of(begun: World, ended: World, value: Any) -> _End:
        cells = {c: v for c, v in ended.cells.items() if begun.cells.get(c) != v}
        return _End(
            cells,
            ended.written - begun.written,
            ended.read - begun.read,
            ended.changed - begun.changed,
            value,
        )

    def after(self, begun: World) -> World:
        if not (self.cells or self.written or self.read or self.changed):
            return begun
        return World(
            {**begun.cells, **self.cells},
            begun.variables,
            begun.written | self.written,
            begun.read | self.read,
            begun.decided_by,
            begun.changed | self.changed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """What a call came to, and what it did."""

    ends: list[_End]
    seen: Seen


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Elements that were asked of, and what the call came to by what was answered.

    `given` keeps the arguments alive, whose identities are in the key.
    """

    given: tuple[Any, ...]
    elements: frozenset[Cell]
    in_order: tuple[Cell, ...]
    names: tuple[str, ...]
    came_to: dict[Hashable, _Call] = field(default_factory=dict)

    def answers(self, world: World, elements: Elements) -> Hashable:
        """All that the answers rest on."""
        return (
            elements.circumstances(self.elements, self.names),
            tuple(map(world.cells.get, self.in_order)),
            world.changed & self.elements,
            world.written & self.elements,
            world.read & self.elements,
        )


@dataclass(slots=True)
class Remembered:
    """The calls that were gone through, with one layout and these settings."""

    _calls: dict[Hashable, list[_Asked]] = field(default_factory=dict)

    def recalled(
        self, source: Source, given: Iterable[Any], world: World, elements: Elements
    ) -> Ends | None:
        """What a call comes to; None where it was not gone through."""
        for asked in self._calls.get(_key(source, given, world.decided_by), ()):
            call = asked.came_to.get(asked.answers(world, elements))
            if call is not None:
                elements.asked |= asked.elements
                elements.seen.add(call.seen)
                return [(end.after(world), end.value) for end in call.ends]
        return None

    def keep(
        self,
        source: Source,
        given: Iterable[Any],
        world: World,
        elements: Elements,
        ends: Ends,
    ) -> None:
        """Keep what a call came to, of which `elements` has noted all and nothing else."""
        arguments = tuple(given)
        known = self._calls.setdefault(_key(source, arguments, world.decided_by), [])
        for asked in known:
            if asked.elements == elements.asked:
                break
        else:
            in_order = tuple(sorted(elements.asked))
            names = tuple(dict.fromkeys(name for name, _, _ in in_order))
            asked = _Asked(arguments, frozenset(in_order), in_order, names)
            known.append(asked)
        asked.came_to[asked.answers(world, elements)] = _Call(
            [_End.of(world, after, value) for after, value in ends], elements.seen
        )


def _key(source: Source, given: Iterable[Any], decided_by: Fields) -> Hashable:
    return id(source), tuple(map(_describe, given)), decided_by


def _describe(value: Any) -> Hashable:
    if isinstance(value, Number):
        return value.values, value.made_of
    if isinstance(value, tuple):
        return tuple(map(_describe, value))
    return id(value)
