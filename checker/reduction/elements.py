"""Field elements in an abstract state: reads, writes, aliasing of indices.

Reading an element whose values are distinguished splits the abstract state into one for each value;
from there on the relations between fields apply to its row.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from checker.reduction.abstract_state import NOTHING, Fields, Number, World
from checker.reduction.plan import Cell
from checker.reduction.relations import Relations
from model.core.layout import Layout, Place


@dataclass(slots=True)
class Seen:
    """What a rule may do. `reads` and `writes` are elements, `values` what may be written to them.

    `made_of` are the fields that what is written to a field depends on, `raised_by` those that
    decide whether the rule raises: by an index or a value out of range, or for want of a result.
    """

    reads: set[Cell] = field(default_factory=set)
    writes: set[Cell] = field(default_factory=set)
    values: dict[str, set[int]] = field(default_factory=dict)
    made_of: dict[str, set[str]] = field(default_factory=dict)
    raised_by: set[str] = field(default_factory=set)

    def add(self, other: Seen) -> None:
        """What another rule may do as well."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.raised_by |= other.raised_by
        for name, values in other.values.items():
            self.values.setdefault(name, set()).update(values)
        for name, fields in other.made_of.items():
            self.made_of.setdefault(name, set()).update(fields)

    @property
    def fields_read(self) -> Fields:
        """The fields of which any element is read."""
        return frozenset(name for name, _, _ in self.reads)

    @property
    def fields_written(self) -> Fields:
        """The fields of which any element is written."""
        return frozenset(name for name, _, _ in self.writes)


@dataclass(slots=True)
class Elements:
    """Reads and writes elements in states whose fields have these `ranges` and `relations`.

    An element of a field in `parting` is known from where it is read on: there worlds part. Of the
    `watched` elements each world knows whether it has written or read them. Writing what is there
    already is no writing, but for the elements `overwritten`.

    `asked` are the elements of which anything was asked: on nothing else of a state does it rest
    what a rule does.
    """

    layout: Layout
    ranges: Mapping[str, frozenset[int]]
    relations: Relations
    parting: Fields = NOTHING
    watched: frozenset[Cell] = frozenset()
    overwritten: frozenset[Cell] = frozenset()
    seen: Seen = field(default_factory=Seen)
    asked: set[Cell] = field(default_factory=set)
    _circumstances: dict[frozenset[Cell], Hashable] = field(default_factory=dict)

    def circumstances(self, cells: frozenset[Cell], names: tuple[str, ...]) -> Hashable:
        """All that reads and writes of these elements rest on, and that is the same in all states.

        `names` are the fields that the elements are of.
        """
        found = self._circumstances.get(cells)
        if found is None:
            found = self._circumstances[cells] = (
                tuple([self.ranges[name] for name in names]),
                tuple([self.relations.describe_answers(name) for name in names]),
                self.parting.intersection(names),
                cells & self.watched,
                cells & self.overwritten,
            )
        return found

    def values_of(self, world: World, cell: Cell) -> frozenset[int]:
        """What an element may be."""
        return world.cells.get(cell, self.ranges[cell[0]])

    def narrowed(self, world: World, known: Iterable[tuple[Cell, frozenset[int]]]) -> World | None:
        """The states of a world in which elements have these values, and what follows for others.

        None where there is no such state. The relations hold before a step, and so between elements
        that were not written since.
        """
        cells = dict(world.cells)
        learned = []
        for cell, values in known:
            cells[cell] = values
            learned.append(cell)
        while learned:
            cell = learned.pop()
            self.asked.add(cell)
            if cell in world.changed:
                continue
            for name, beside in self.relations.of(cell[0]):
                other = (name, cell[1], 0)
                self.asked.add(other)
                if other in world.changed:
                    continue
                before = cells.get(other, self.ranges[name])
                values = before & _beside(beside, cells[cell])
                if not values:
                    return None
                if values != before:
                    cells[other] = values
                    learned.append(other)
        return replace(world, cells=cells)

    def read(self, world: World, name: str, indices: list[Number]) -> list[tuple[World, Number]]:
        """An element is read: the worlds after it, each with what it may be there."""
        place = self.layout.places[name]
        made_of = frozenset((name,)).union(*[index.made_of for index in indices])
        self._require_within(world, place, indices)
        cells = _cells(place, indices)
        self.asked.update(cells)
        self.seen.reads.update(cells)
        if self.watched:
            unwritten = self.watched.intersection(cells) - world.written
            if not unwritten <= world.read:
                world = replace(world, read=world.read | unwritten)
        if len(cells) == 1 and name in self.parting:
            (cell,) = cells
            found = []
            for value in sorted(self.values_of(world, cell)):
                only = frozenset((value,))
                inside = self.narrowed(world, [(cell, only)])
                if inside is not None:
                    found.append((inside, Number(only, made_of)))
            return found
        values = frozenset[int]().union(*[self.values_of(world, cell) for cell in cells])
        return [(world, Number(values, made_of))] if cells else []

    def write(
        self, world: World, name: str, indices: list[Number] | tuple[()], value: Number
    ) -> list[World]:
        """An element is written: the worlds after it, one for each element that it may be."""
        place = self.layout.places[name]
        why = value.made_of.union(world.decided_by, *(index.made_of for index in indices))
        self.seen.made_of.setdefault(name, set()).update(why)
        self._require_within(world, place, list(indices))
        if value.values is None or not value.values <= _range(place):
            self.seen.raised_by |= value.made_of | world.decided_by
        # What is out of range raises, and is no state.
        within = _range(place)
        kept = value.values & within if value.values is not None else within
        found = []
        for cell in _cells(place, list(indices)):
            self.asked.add(cell)
            before = self.values_of(world, cell)
            if len(kept) == 1 and before == kept and cell not in self.overwritten:
                found.append(world)
                continue
            self.seen.writes.add(cell)
            self.seen.values.setdefault(name, set()).update(kept)
            after = world.written_to(cell, kept)
            if cell in self.watched:
                after = replace(after, written=after.written | {cell})
            found.append(after)
        return found

    def _require_within(self, world: World, place: Place, indices: list[Number]) -> None:
        """Note what decides whether an index is outside the shape."""
        for index, extent in zip(indices, place.shape, strict=True):
            if index.values is None or not index.values <= _first(extent):
                self.seen.raised_by |= index.made_of | world.decided_by


def _beside(beside: Mapping[int, frozenset[int]], values: frozenset[int]) -> frozenset[int]:
    """What may stand beside any of these values."""
    return frozenset[int]().union(*[beside.get(value, ()) for value in values])


@functools.cache
def _first(count: int) -> frozenset[int]:
    return frozenset(range(count))


@functools.cache
def _range(place: Place) -> frozenset[int]:
    return frozenset(range(place.lo, place.hi + 1))


def _cells(place: Place, indices: list[Number]) -> list[Cell]:
    """The elements that indices may mean; what is outside the shape raises, and is left out."""
    choices = [
        [i for i in range(extent) if index.values is None or i in index.values]
        for index, extent in zip(indices, place.shape, strict=True)
    ]
    missing = (0,) * (2 - len(choices))
    return [(place.name, *at, *missing) for at in product(*choices)]  # type: ignore[misc]
