"""Construction of the partitioned graph from the levels of a search.

The files of a level are sorted by hash, so an owner's states are a range of each. The owner of a
step's source knows the step; its target may have another owner. So the successor goes to its owner,
who knows its number, and the number comes back. Four jobs, a task for each owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from waterline.checker.compiler.origins import row_of, step_of
from waterline.checker.graph.adjacency import Places
from waterline.checker.graph.index import MISSING, Index
from waterline.checker.liveness.external.parts import (
    ELSEWHERE,
    Part,
    Parts,
    Slices,
    Words64,
    pack,
    packed_facts,
    read_mail,
    unpack,
)
from waterline.checker.liveness.space import Gatherer, require_elsewhere
from waterline.checker.problem.packed_rows import Rows, StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Tally, chunks_of
from waterline.checker.storage.blocks import owner_of_each
from waterline.checker.storage.level_files import LevelFiles
from waterline.checker.storage.runs import share

Steps = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """Report of an owner's task: how much it made, in all and for each owner.

    `faults` are states that a claim or an action cannot evaluate, `steps` the steps that occur.
    """

    owner: int
    made: int
    counts: tuple[int, ...] = ()
    faults: tuple[StateWords, ...] = ()
    steps: Steps = ()


@dataclass(frozen=True, slots=True)
class TakeOut:
    """Task that takes an owner's states with an event still to come out of the levels."""

    problem: Problem
    parts: Parts
    levels: tuple[LevelFiles, ...]

    def __call__(self, owner: int) -> Done:
        """Write states, their facts and their cut steps."""
        gather = Gatherer(self.problem)
        rows = [np.empty((0, self.parts.words), np.uint64)]
        facts, cuts = list[Words64](), [np.empty(0, np.uint64)]
        faults: list[StateWords] = []
        begun = 0
        for level in self.levels:
            for block in self._of_level(level, owner):
                found = gather(block)
                depths = np.full(len(found.rows), level.depth, np.int64)
                rows.append(found.rows)
                facts.append(packed_facts(depths, found.truths))
                at = begun + found.cut_row.astype(np.int64)
                cuts.append(pack(at, found.cut_step.astype(np.int64)))
                faults += found.faults
                begun += len(found.rows)
        self.parts.write("states", owner, *rows)
        self.parts.write("facts", owner, *facts)
        self.parts.write("cuts", owner, *cuts)
        return Done(owner, begun, faults=tuple(faults))

    def _of_level(self, level: LevelFiles, owner: int) -> Iterator[Rows]:
        by_owner = level.owners == self.parts.owners
        for file in level.files:
            if by_owner and file.owner != owner:
                continue
            rows = self.parts.storage.read(file.name, self.parts.words)
            yield rows if by_owner else share(rows, self.parts.owners, owner)


@dataclass(frozen=True, slots=True)
class Expand:
    """Expands an owner's states: successors, each for its owner, with source and step."""

    problem: Problem
    parts: Parts

    def __call__(self, owner: int) -> Done:
        """Write `sought`."""
        parts, part = self.parts, Part(self.parts, owner)
        expander, tally = Expander(self.problem), Tally(self.problem)
        sought: list[list[Words64]] = [[] for _ in range(parts.owners)]
        steps: set[int] = set()
        first = 0
        for chunk in chunks_of(part.rows):
            for written in expander.expand(chunk, tally):
                goals, origin = expander.out[:written], expander.origin[:written]
                sources = parts.numbers(owner, first + row_of(origin))
                taken = step_of(origin)
                steps.update(np.unique(taken).tolist())
                whose = owner_of_each(goals, parts.owners)
                order = np.argsort(whose, kind="stable")
                block = np.column_stack((goals, pack(sources, taken)))[order]
                bounds = np.searchsorted(whose[order], np.arange(1, parts.owners))
                for to, piece in zip(sought, np.split(block, bounds), strict=True):
                    to.append(piece)
            first += len(chunk)
        parts.write("sought", owner, *(piece for to in sought for piece in to))
        counts = tuple(sum(map(len, to)) for to in sought)
        return Done(owner, sum(counts), counts, tuple(tally.faults), tuple(sorted(steps)))


@dataclass(frozen=True, slots=True)
class Resolve:
    """Task that identifies successors among an owner's states, and keeps the steps into these.

    Raises `NotExplored` for one outside the levels.
    """

    problem: Problem
    parts: Parts

    def __call__(self, item: tuple[int, Slices]) -> Done:
        """Write `into`, and `found` for the senders."""
        owner, mail = item
        parts, part = self.parts, Part(self.parts, owner)
        index = Index(np.ascontiguousarray(part.rows))
        into, found = [np.empty((0, 2), np.uint64)], list[Words64]()
        counts = [0] * parts.owners
        for (sender, _, _), block in zip(
            mail, read_mail(parts, "sought", mail, parts.words + 1), strict=True
        ):
            rows, asked = np.ascontiguousarray(block[:, :-1]), block[:, -1]
            places = index.numbers_of(rows).astype(np.int64)
            missing = places == MISSING
            require_elsewhere(self.problem, rows[missing])
            numbers = np.where(missing, ELSEWHERE, parts.numbers(owner, places))
            found.append(np.column_stack((asked, numbers.astype(np.uint64))))
            into.append(np.column_stack((places.astype(np.uint64), asked))[~missing])
            counts[sender] = len(block)
        parts.write("found", owner, *found)
        whole = np.concatenate(into)
        _keep(parts, owner, "into", len(part), whole[:, 0].astype(np.int64), whole[:, 1])
        return Done(owner, len(whole), tuple(counts))


@dataclass(frozen=True, slots=True)
class SortOut:
    """Keeps the steps out of an owner's states, once it is known where they lead."""

    parts: Parts

    def __call__(self, item: tuple[int, Slices]) -> Done:
        """Write `out`."""
        owner, mail = item
        whole = np.concatenate(
            [np.empty((0, 2), np.uint64), *read_mail(self.parts, "found", mail, 2)]
        )
        sources, steps = unpack(whole[:, 0])
        targets = pack(whole[:, 1].astype(np.int64), steps)
        states = len(Part(self.parts, owner))
        _keep(self.parts, owner, "out", states, sources // self.parts.owners, targets)
        return Done(owner, len(whole))


def _keep(parts: Parts, owner: int, what: str, states: int, at: Places, words: Words64) -> None:
    """Steps by the place of the state that they are kept with."""
    order = np.lexsort((words, at))
    first: Words64 = np.zeros(states + 1, np.uint64)
    first[1:] = np.cumsum(np.bincount(at, minlength=states))
    parts.write(what, owner, words[order])
    parts.write(f"{what}-first", owner, first)


def least_fault(done: Sequence[Done]) -> StateWords | None:
    """Return the least state that a claim or an action could not evaluate."""
    return min((fault for each in done for fault in each.faults), default=None)
