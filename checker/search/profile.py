"""Profile of a state space: values per field, states per action and fault count.

Each state is put down to the first action, in the table of contents, with a step to it from the
level before. That is the same on every engine, and the counts add up to all states but the initial
ones. For each field it has the number of values, and the number of distinct states without that
field. The use of each budget is read from the state's own counters.

Nothing of it is kept while a search runs, so only runs with a profile pay for it.
"""

from __future__ import annotations

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
from waterline.checker.storage.distinct_counts import FieldBits, Spread, SpreadSeen, bits_of_fields
from waterline.checker.storage.runs import share, sort_unique

PIECE_STATES = 1 << 21
"""States of a level whose first arrivals are looked for at a time."""


@dataclass(frozen=True, slots=True)
class FieldSpread:
    """A field, and how many `values` it has in all states.

    `is_exact` where these were counted, else they are estimated. `without` is about how many states
    there are if they are distinguished by all the other fields alone
    (`checker.storage.hyperloglog`).
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
    spreads = {part.name: Spread(words) for part in looked}
    looker = _Looker(problem, looked)
    faults: dict[str, NDArray[np.int64]] = {}
    arrivals: NDArray[np.int64] = np.zeros(len(problem.model.actions), np.int64)
    for depth in depths:
        for seen, used in engine.over_level(depth, looker):
            for name, spread in spreads.items():
                spread.add(seen[name])
            for name, counted in used.items():
                faults[name] = sum_counts(faults.get(name, counted[:0]), counted)
        if depth:
            for level in _pieces(engine, depth, result.levels[depth].states):
                steps = _first_steps(problem, engine, depth, level)
                arrivals += np.bincount(action_of(steps), minlength=len(arrivals))
    fields = [
        FieldSpread(part.name, 1, True, result.distinct) for part in parts if part not in looked
    ]
    for name, spread in spreads.items():
        without = result.distinct if spread.values == 1 else min(spread.without, result.distinct)
        fields.append(FieldSpread(name, spread.values, spread.is_exact, without))
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

    def __call__(self, block: Rows) -> tuple[dict[str, SpreadSeen], dict[str, NDArray[np.int64]]]:
        spreads = [Spread(block.shape[1]) for _ in self.parts]
        for rows in chunks_of(block):
            for part, spread in zip(self.parts, spreads, strict=True):
                alone = part.of(rows)
                spread.take(alone, rows ^ alone)
        used = {
            name: np.bincount(used_in_rows(self.problem.model, name, block))
            for name in counters(self.problem.model)
        }
        seen = {p.name: spread.snapshot() for p, spread in zip(self.parts, spreads, strict=True)}
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
