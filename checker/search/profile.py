"""Profile of a state space: values per field, states per action and fault count.

Each state is put down to the first action, in the table of contents, with a step to it from the
level before. That is the same on every engine, and the counts add up to all states but the initial
ones. For each field it has the number of values, and the number of distinct states without that
field. The use of each budget is read from the state's own counters.

Values, and states without a field, are counted exactly up to a limit. Beyond, the least hashes are
kept: they lie the closer together, the more different hashes there are.

Nothing of it is kept while a search runs, so only runs with a profile pay for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.edges import steps_out_of
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.engines.expander import Expander, chunks_of
from waterline.checker.search.fault_count import counters, sum_counts, used_in_rows
from waterline.checker.search.result import Result
from waterline.checker.storage.arrivals import LeastArrivals
from waterline.checker.storage.blocks import hashes
from waterline.checker.storage.runs import share, sort_unique
from waterline.model.core.layout import WORD_BITS, Layout, Place

PIECE_STATES = 1 << 21
"""States of a level whose first arrivals are looked for at a time."""
VALUES_MAX = 1 << 14
"""Hashes that are kept: fewer different ones are counted exactly."""
STANDARD_ERROR = 1 / math.sqrt(VALUES_MAX)


class DistinctCount:
    """Number of distinct rows, from the least of their hashes (Bar-Yossef et al. 2002)."""

    def __init__(self) -> None:
        self._least: NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, found: NDArray[np.uint64]) -> None:
        """Take in hashes."""
        if not self.is_exact:
            found = found[found < self._least[-1]]
        both = np.sort(np.concatenate((self._least, found)))  # np.unique takes ten times as long
        is_new = np.ones(len(both), np.bool_)
        is_new[1:] = both[1:] != both[:-1]
        self._least = both[is_new][:VALUES_MAX]

    def join(self, other: DistinctCount) -> None:
        """Take in what was counted elsewhere."""
        self.add(other._least)

    @property
    def is_exact(self) -> bool:
        """True if all hashes are kept."""
        return len(self._least) < VALUES_MAX

    @property
    def count(self) -> int:
        """How many rows there are, or about how many."""
        if self.is_exact:
            return len(self._least)
        return round((VALUES_MAX - 1) * 2.0**64 / float(self._least[-1]))


@dataclass(frozen=True, slots=True)
class FieldSpread:
    """A field, and how many `values` it has in all states.

    `is_exact` where these were counted, else they are estimated. `without` is about how many states
    there are if they are distinguished by all the other fields alone.
    """

    name: str
    values: int
    is_exact: bool
    without: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`arrivals` are states by the action that they are put down to, `faults` states by how much of
    each budget they took, by the field that counts it. `states` were explored; to look through them
    took `seconds`.
    """

    states: int
    arrivals: Mapping[str, int]
    fields: tuple[FieldSpread, ...]
    faults: Mapping[str, tuple[int, ...]]
    seconds: float


def profile_of(problem: Problem, engine: Engine, result: Result) -> Profile:
    """The profile of what `engine` has absorbed."""
    began = time.monotonic()
    depths = [level.depth for level in result.levels if level.states]
    words = problem.model.layout.words
    parts = tuple(bits_of_fields(problem.model.layout))
    changing = _changing(engine, depths, words)
    looked = tuple(part for part in parts if (changing & np.array(part.mask, np.uint64)).any())
    counted = {part.name: (DistinctCount(), DistinctCount()) for part in looked}
    looker = _Looker(problem, looked)
    faults: dict[str, NDArray[np.int64]] = {}
    arrivals: NDArray[np.int64] = np.zeros(len(problem.model.actions), np.int64)
    for depth in depths:
        for seen, used in engine.over_level(depth, looker):
            for (values, without), (more, others) in zip(counted.values(), seen, strict=True):
                values.join(more)
                without.join(others)
            for name, times in used.items():
                faults[name] = sum_counts(faults.get(name, times[:0]), times)
        if depth:
            for level in _pieces(engine, depth, result.levels[depth].states):
                steps = _first_steps(problem, engine, depth, level)
                arrivals += np.bincount(action_of(steps), minlength=len(arrivals))
    fields = [
        FieldSpread(part.name, 1, True, result.distinct) for part in parts if part not in looked
    ]
    for name, (values, without) in counted.items():
        rest = result.distinct if values.count == 1 else min(without.count, result.distinct)
        fields.append(FieldSpread(name, values.count, values.is_exact, rest))
    return Profile(
        states=result.distinct,
        arrivals={
            action.name: int(arrivals[number])
            for number, action in enumerate(problem.model.actions)
            if action.name in problem.model.contents
        },
        fields=tuple(sorted(fields, key=lambda each: (each.without, each.name))),
        faults={name: tuple(faults[name].tolist()) for name in counters(problem.model)},
        seconds=time.monotonic() - began,
    )


def _changing(engine: Engine, depths: Sequence[int], words: int) -> NDArray[np.uint64]:
    """Return the bits that differ between any two states."""
    ever, always = np.zeros(words, np.uint64), ~np.zeros(words, np.uint64)
    for depth in depths:
        for some, every in engine.over_level(depth, _some_and_every):
            ever |= some
            always &= every
    return ever & ~always


def _some_and_every(block: Rows) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The bits that are set in some state of a block, and those that are in every one."""
    some: NDArray[np.uint64] = np.bitwise_or.reduce(block, axis=0)
    every: NDArray[np.uint64] = np.bitwise_and.reduce(block, axis=0)
    return some, every


@dataclass(frozen=True, slots=True)
class _Looker:
    """Looks through a block; other processes may do it."""

    problem: Problem
    parts: tuple[FieldBits, ...]

    def __call__(
        self, block: Rows
    ) -> tuple[list[tuple[DistinctCount, DistinctCount]], dict[str, NDArray[np.int64]]]:
        seen = [(DistinctCount(), DistinctCount()) for _ in self.parts]
        for rows in chunks_of(block):
            for part, (values, without) in zip(self.parts, seen, strict=True):
                alone = part.of(rows)
                values.add(hashes(alone))
                without.add(hashes(rows ^ alone))
        used = {
            name: np.bincount(used_in_rows(self.problem.model, name, block))
            for name in counters(self.problem.model)
        }
        return seen, used


def _pieces(engine: Engine, depth: int, states: int) -> Iterator[Rows]:
    """A level in the order of hashes, at most about so many states at a time."""
    pieces = -(-states // PIECE_STATES)
    for number in range(pieces):
        parts = list(engine.over_level(depth, _Share(pieces, number)))
        yield sort_unique(np.concatenate(parts))


@dataclass(frozen=True, slots=True)
class _Share:
    """The states of a block whose hashes are in one of so many ranges."""

    pieces: int
    number: int

    def __call__(self, block: Rows) -> Rows:
        if self.pieces == 1:
            return np.array(block)
        mine = share(sort_unique(np.array(block)), self.pieces, self.number)
        return np.array(mine)


def _first_steps(problem: Problem, engine: Engine, depth: int, level: Rows) -> NDArray[np.int64]:
    """The first step into each of these states, from any state of the level before."""
    first: NDArray[np.uint32] = np.full(len(level), -1, np.int32).view(np.uint32)
    for found in engine.over_level(depth - 1, _Arrivals(problem, level)):
        np.minimum(first, found.view(np.uint32), out=first)
    return first.astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """The first step from a block into each of these states, -1 where there is none."""

    problem: Problem
    level: Rows

    def __call__(self, block: Rows) -> NDArray[np.int32]:
        expander, found = Expander(self.problem), LeastArrivals(self.level)
        # All sources are taken for one and the same, so that the least step is kept.
        same = np.zeros((1, self.level.shape[1]), np.uint64)
        for steps in steps_out_of(expander, block):
            taken = np.ascontiguousarray(steps.step)
            found.offer(steps.successors, taken, len(taken), same)
        return found.steps


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a field, and the place of the number that decides whether the row means anything.

    `places` are (word, mask). The row is alive if the deciding number is among `values`, which are
    packed: less the least value.
    """

    places: tuple[tuple[int, int], ...]
    word: int
    shift: int
    ones: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FieldBits:
    """A field: all its bits, word by word; and its rows, if they are not always alive."""

    name: str
    mask: tuple[int, ...]
    rows: tuple[_Row, ...]

    def of(self, rows: Rows) -> Rows:
        """The states with everything but the field at zero; what is not alive is at zero too."""
        if not self.rows:
            return rows & np.array(self.mask, np.uint64)
        alone = np.zeros_like(rows)
        for row in self.rows:
            decides = (rows[:, row.word] >> np.uint64(row.shift)) & np.uint64(row.ones)
            alive: NDArray[np.bool_] = decides == row.values[0]
            for value in row.values[1:]:
                alive |= decides == value
            for word, mask in row.places:
                alone[:, word] |= (rows[:, word] & np.uint64(mask)) * alive
        return alone


def bits_of_fields(layout: Layout) -> Iterator[FieldBits]:
    """Each field, in the order of their declarations."""
    for declared in layout.fields:
        place = layout.places[declared.name]
        masks = [_row_mask(place, row, layout.words) for row in range((*place.shape, 1)[0])]
        whole = tuple(_join(masks, word) for word in range(layout.words))
        rows = tuple(_rows(layout, place, masks)) if place.alive is not None else ()
        yield FieldBits(declared.name, whole, rows)


def _rows(layout: Layout, place: Place, masks: list[list[int]]) -> Iterator[_Row]:
    assert place.alive is not None
    deciding = layout.places[place.alive.field]
    for number, mask in enumerate(masks):
        word, shift = divmod(deciding.bit + number * deciding.row, WORD_BITS)
        yield _Row(
            tuple((place, bits) for place, bits in enumerate(mask) if bits),
            word,
            shift,
            (1 << deciding.width) - 1,
            tuple(value - deciding.lo for value in place.alive.values),
        )


def _row_mask(place: Place, row: int, words: int) -> list[int]:
    mask = [0] * words
    for column in range((*place.shape, 1, 1)[1]):
        word, shift = divmod(place.bit + row * place.row + column * place.column, WORD_BITS)
        if place.width:
            mask[word] |= ((1 << place.width) - 1) << shift
    return mask


def _join(masks: list[list[int]], word: int) -> int:
    joined = 0
    for mask in masks:
        joined |= mask[word]
    return joined
