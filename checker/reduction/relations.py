"""Relational invariants of two fields in one row, found by abstract interpretation.

A candidate says of two fields that no row has one value in the one while it has another value in
the other. All that hold in the initial states are taken for true at first; those that some step may
break, the others being true before it, are dropped, until none is. So what is left holds in the
initial states and is kept by every step: in all reachable states.

Kept is the reverse of it, the pairs that are possible: they only become more.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

from checker.reduction.abstract_state import NOTHING, Fields, World
from checker.reduction.plan import Cell
from model.core.layout import Layout

_Names = tuple[str, str]


@dataclass(slots=True)
class Relations:
    """The `pairs` of values that two fields may have in one row, the same for all rows.

    The first field of each two decides something, or has two values: it is distinguished wherever a
    step reads it, so that what is known of the other follows.
    """

    pairs: dict[_Names, set[tuple[int, int]]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    _beside: dict[str, list[tuple[str, Mapping[int, frozenset[int]]]]] = field(default_factory=dict)
    _describe: dict[str, Hashable] = field(default_factory=dict)

    @staticmethod
    def between(layout: Layout, initial: Iterable[Mapping[str, list[int]]]) -> Relations:
        """All that hold in these states, whose fields with one index are given."""
        deciding = {f.alive.field for f in layout.fields if f.alive is not None}
        # A row that is not alive has no value of its own.
        rows = {f.name: f.shape[0] for f in layout.fields if len(f.shape) == 1 and f.alive is None}
        distinguishes_names = [
            f.name
            for f in layout.fields
            if f.name in rows and (f.name in deciding or f.hi - f.lo == 1)
        ]
        names = [
            (first, other)
            for first in distinguishes_names
            for other in rows
            if other != first and rows[other] == rows[first]
        ]
        pairs: dict[_Names, set[tuple[int, int]]] = {two: set() for two in names}
        for values in initial:
            for (first, other), found in pairs.items():
                found.update(zip(values[first], values[other], strict=True))
        fields = {name for two in names for name in two}
        return Relations(pairs, {name: rows[name] for name in rows if name in fields})

    def without(self, fields: Collection[str]) -> Relations:
        """Those that say nothing of these fields."""
        pairs = {two: of for two, of in self.pairs.items() if not {*two} & {*fields}}
        return Relations(pairs, {n: rows for n, rows in self.rows.items() if n not in fields})

    @property
    def distinguishes_names(self) -> Fields:
        """The fields of which each value may say something about others."""
        return frozenset(first for first, _ in self.pairs)

    @property
    def fields(self) -> Fields:
        """All fields that anything is said of."""
        return frozenset(self.rows)

    def of(self, name: str) -> list[tuple[str, Mapping[int, frozenset[int]]]]:
        """The other fields that a field says something of, and what by each of its values."""
        if name not in self._beside:
            self._beside[name] = [
                (two[1 - at], _by_value(pairs, at))
                for two, pairs in self.pairs.items()
                for at in (0, 1)
                if two[at] == name
            ]
        return self._beside[name]

    def describe_answers(self, name: str) -> Hashable:
        """All that a field says of others, as something to compare."""
        if name not in self._describe:
            self._describe[name] = tuple(
                (other, frozenset(beside.items())) for other, beside in self.of(name)
            )
        return self._describe[name]

    def dropped(self, world: World, ranges: Mapping[str, frozenset[int]]) -> Fields:
        """Drop what does not hold after the step that ended in this world; of which fields."""
        broken: Fields = NOTHING
        for two, pairs in self.pairs.items():
            for row in range(self.rows[two[0]]):
                cells: list[Cell] = [(name, row, 0) for name in two]
                if world.changed.isdisjoint(cells):
                    continue
                first, other = (world.cells.get(cell, ranges[cell[0]]) for cell in cells)
                more = set(product(first, other)) - pairs
                if more:
                    pairs.update(more)
                    broken |= frozenset(two)
        if broken:
            self._beside.clear()
            self._describe.clear()
        return broken


NO_RELATIONS = Relations()
"""Nothing is said of any two fields: as in the middle of a step."""


def _by_value(pairs: set[tuple[int, int]], at: int) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for pair in pairs:
        found.setdefault(pair[at], set()).add(pair[1 - at])
    return {value: frozenset(others) for value, others in found.items()}
