"""The search in memory: threads over blocks of states in this process.

A level is expanded in slabs. In each slab the threads first turn chunks of the frontier into
successors, grouped by owner; then each owner's share is looked up in that owner's own table, small
enough to stay in cache while it is used. No two threads ever touch one owner at a time, so there
are no locks, and nothing depends on which thread did what.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from checker.compiled.expander import CHUNK_ROWS, Expander, Findings, Tally, initial_rows
from checker.engine import Arrivals, Expansion, Interrupted, ModelFault
from checker.memory_use import anonymous_bytes
from checker.problem import Problem
from checker.store.blocks import Rows, nothing_recent, scatter, width_of
from checker.store.owned import Owned
from checker.store.reserve import Reserve
from checker.store.runs import share, sort_unique

OWNERS = 32
RECENT_SLOTS = 1 << 14
SLAB_CHUNKS = 64
_Found = TypeVar("_Found")


class OutOfMemory(Exception):
    """The states no longer fit the memory that was allowed; the level was not expanded."""


class Slab:
    """Scattered successors of a few chunks, kept until their owners have absorbed them."""

    def __init__(self, chunks: int, room: int, words: int) -> None:
        # Most of the room is never used: it should not be backed by large pages.
        self.children: NDArray[np.uint64] = Reserve(chunks * room, words).rows.reshape(
            chunks, room, words
        )
        self.ends: NDArray[np.int64] = np.zeros((chunks, OWNERS), np.int64)


class Worker:
    """What one thread needs for itself."""

    def __init__(self, problem: Problem) -> None:
        self.expander = Expander(problem)
        words = problem.model.layout.words
        self.recent = nothing_recent(width_of(words), RECENT_SLOTS)
        self.owned: NDArray[np.int64] = np.empty(len(self.expander.out), np.int64)


class MemoryEngine:
    """Breadth-first search in memory.

    `threads` 0 means one for each core. Beyond `memory_bytes`, `expand` leaves the level as it was
    and raises `OutOfMemory`.
    """

    name = "local"
    can_shed = False

    def __init__(
        self,
        problem: Problem,
        *,
        threads: int = 0,
        memory_bytes: int | None = None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.threads = threads or os.cpu_count() or 1
        self.memory_bytes = memory_bytes
        self.words = problem.model.layout.words
        self.width = width_of(self.words)
        self.owners = [Owned(self.words, phase=number / OWNERS) for number in range(OWNERS)]
        self.starts: list[list[int]] = [[0] for _ in range(OWNERS)]
        """Where each level begins in each owner; the last entry: the one being absorbed."""
        self.depth = -1
        self._late = deadline or (lambda: False)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="search")
        self._local = threading.local()
        self._stop = threading.Event()
        self._slab = Slab(SLAB_CHUNKS, len(self._worker().expander.out), self.words)

    def close(self) -> None:
        """End the threads and forget the states."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.owners = []

    @property
    def pending(self) -> int:
        """How many states of the next level are known already."""
        return sum(o.count - starts[-1] for o, starts in zip(self.owners, self.starts, strict=True))

    @property
    def frontier(self) -> int:
        """How many states the last level has."""
        return sum(len(part) for part in self.level(self.depth)) if self.depth >= 0 else 0

    def begin(self) -> None:
        """Make the initial states the pending level."""
        rows = initial_rows(self.problem)
        for start in range(0, len(rows), len(self._slab.children[0])):
            self._scatter(rows[start : start + len(self._slab.children[0])], 0)
            self._absorb_slab(1)

    def restore(self, levels: Iterable[Sequence[Rows]]) -> None:
        """Take up where another run was: sorted files of every level, the last not yet expanded."""
        for depth, files in enumerate(levels):
            if depth > 0:
                self._begin_level()
            for number, owned in enumerate(self.owners):
                for rows in files:
                    owned.append(share(self.width, rows, OWNERS, number))
            self.depth = depth
            if self._is_too_large():
                raise OutOfMemory
        for _ in self._map(Owned.index, self.owners):
            pass

    def absorb(self) -> Arrivals:
        """The successors have been absorbed as they were made; this checks the new level."""
        if self.depth < 0:
            self.begin()
        self.depth += 1
        findings = self._inspect()
        if findings.faults:
            raise ModelFault(min(findings.faults))
        return Arrivals(
            depth=self.depth,
            new=self.frontier,
            broken=findings.as_dict(),
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Expand the level slab by slab."""
        pieces = self._pieces(self.depth)
        self._begin_level()
        tally = Tally(self.problem, happened)
        for start in range(0, len(pieces), SLAB_CHUNKS):
            self._expand_slab(pieces[start : start + SLAB_CHUNKS], tally)
            if self._stop.is_set() or self._late():
                raise Interrupted
            if self._is_too_large():
                raise OutOfMemory
        if tally.faults:
            raise ModelFault(min(tally.faults))
        return tally.as_expansion()

    def level(self, depth: int) -> Iterator[Rows]:
        """A level, owner by owner."""
        for owned, starts in zip(self.owners, self.starts, strict=True):
            end = starts[depth + 1] if depth + 1 < len(starts) else owned.count
            if end > starts[depth]:
                yield owned.states[starts[depth] : end]

    def sorted_level(self, depth: int) -> Iterator[Rows]:
        """A level in the order of runs, in blocks."""
        yield from self._map(lambda rows: sort_unique(self.width, rows), list(self.level(depth)))

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """What `work` finds in each part of a level."""
        yield from self._map(work, self._pieces(depth))

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """What `work` makes of each item, on the threads."""
        yield from self._pool.map(work, items)

    def _begin_level(self) -> None:
        for owned, starts in zip(self.owners, self.starts, strict=True):
            starts.append(owned.count)

    def _is_too_large(self) -> bool:
        return self.memory_bytes is not None and anonymous_bytes() > self.memory_bytes

    def _worker(self) -> Worker:
        worker: Worker | None = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = Worker(self.problem)
        return worker

    def _pieces(self, depth: int) -> list[Rows]:
        """A level in pieces of a chunk at most; a small one is gathered into few."""
        parts = list(self.level(depth))
        if sum(len(part) for part in parts) <= OWNERS * CHUNK_ROWS // 4:
            parts = [np.concatenate(parts)] if parts else []
        return [
            part[start : start + CHUNK_ROWS]
            for part in parts
            for start in range(0, len(part), CHUNK_ROWS)
        ]

    def _expand_slab(self, pieces: Sequence[Rows], tally: Tally) -> None:
        """Expand a slab's worth of pieces, then absorb their successors."""

        def expand(place: int) -> Tally:
            part = Tally(self.problem, tally.happened)
            self._slab.ends[place] = 0
            expander = self._worker().expander
            for written in expander.expand(pieces[place], part):
                self._scatter(expander.out[:written], place)
            return part

        for part in list(self._map(expand, range(len(pieces)))):
            tally.add(part)
        self._absorb_slab(len(pieces))

    def _scatter(self, rows: Rows, place: int) -> None:
        worker = self._worker()
        scatter(
            self.width,
            rows,
            len(rows),
            worker.recent,
            self._slab.children[place],
            self._slab.ends[place],
            worker.owned,
        )

    def _absorb_slab(self, used: int) -> None:
        def absorb_owner(number: int) -> None:
            self.owners[number].absorb(self._slab.children, self._slab.ends[:used], number)

        for _ in self._map(absorb_owner, range(OWNERS)):
            pass

    def _inspect(self) -> Findings:
        def inspect(rows: Rows) -> Findings:
            findings = Findings(self.problem)
            self._worker().expander.inspect(rows, findings)
            return findings

        total = Findings(self.problem)
        for part in self._map(inspect, self._pieces(self.depth)):
            total.add(part)
        return total

    def _map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Over the threads where there is enough to share; results come in order."""
        if self.threads == 1 or len(items) == 1 or self._small():
            return map(function, items)
        return self._pool.map(function, items)

    def _small(self) -> bool:
        """Whether handing work to other threads would cost more than doing it."""
        return self.frontier + self.pending < CHUNK_ROWS
