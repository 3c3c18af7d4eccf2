"""The local engine: threads over blocks of states in this process's memory.

A level is expanded in slabs. In each slab the threads first turn chunks of the frontier into
successors, grouped by owner; then each owner's share is looked up in that owner's own table, small
enough to stay in cache while it is used. No two threads ever touch one owner at a time, so there
are no locks, and nothing depends on which thread did what.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checker.compiled.expander import CHUNK_ROWS, Expander, Findings, Tally, initial_rows
from checker.engine import Arrivals, EngineFailed, Expansion, Interrupted, ModelFault
from checker.problem import Problem
from checker.store.blocks import OWNED_MAX, Rows, absorb, nothing_recent, rehash, scatter, width_of
from checker.store.reserve import Reserve

OWNERS = 32
RECENT_SLOTS = 1 << 14
SLAB_CHUNKS = 64
_SLOTS_MIN = 512
_LOAD_MAX = 0.8
_GROWTH = 1.4
"""Tables are filled to 80% and grow by 40%, so that a slot's 4 bytes are 5 to 7 a state."""


class TooManyStates(EngineFailed):
    """One owner's share of the states is more than its table can number."""


class Owner:
    """One share of the visited states: the states in order of discovery, and a table over them."""

    def __init__(self, words: int) -> None:
        self.width = width_of(words)
        self._reserve = Reserve(OWNED_MAX, words)
        self.states: Rows = self._reserve.rows
        self.table: NDArray[np.uint32] = np.zeros(_SLOTS_MIN, np.uint32)
        self.count = 0
        self.starts: list[int] = [0]
        """Where each level begins; the last entry is where the one being absorbed does."""

    def make_room(self, more: int) -> None:
        """Room for `more` states, in the array and in the table."""
        wanted = self.count + more
        if wanted > OWNED_MAX:
            raise TooManyStates(
                f"one of {OWNERS} owners has more than {OWNED_MAX:,} states; explore on Spark"
            )
        self._reserve.expect(wanted)
        if wanted > _LOAD_MAX * len(self.table):
            slots = max(int(len(self.table) * _GROWTH), int(wanted / _LOAD_MAX) + 1)
            # The old table goes first: everything in it can be found again from the states.
            self.table = np.zeros(0, np.uint32)
            self.table = np.zeros(slots, np.uint32)
            rehash(self.width, self.table, self.states, self.count)

    def level(self, depth: int) -> Rows:
        """The states that arrived at a depth."""
        end = self.starts[depth + 1] if depth + 1 < len(self.starts) else self.count
        return self.states[self.starts[depth] : end]


class Slab:
    """Scattered successors of a few chunks, kept until their owners have absorbed them."""

    def __init__(self, chunks: int, room: int, words: int) -> None:
        self.children: NDArray[np.uint64] = np.empty((chunks, room, words), np.uint64)
        self.ends: NDArray[np.int64] = np.zeros((chunks, OWNERS), np.int64)


class Worker:
    """What one thread needs for itself."""

    def __init__(self, problem: Problem) -> None:
        self.expander = Expander(problem)
        words = problem.model.layout.words
        self.recent = nothing_recent(width_of(words), RECENT_SLOTS)
        self.owned: NDArray[np.int64] = np.empty(len(self.expander.out), np.int64)


class MemoryEngine:
    """Breadth-first search in memory. `threads` 0 means one for each core."""

    name = "local"

    def __init__(
        self, problem: Problem, *, threads: int = 0, deadline: Callable[[], bool] | None = None
    ) -> None:
        self.problem = problem
        self.threads = threads or os.cpu_count() or 1
        self.words = problem.model.layout.words
        self.width = width_of(self.words)
        self.owners = [Owner(self.words) for _ in range(OWNERS)]
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
        return sum(owner.count - owner.starts[-1] for owner in self.owners)

    def begin(self) -> None:
        """Make the initial states the pending level."""
        rows = initial_rows(self.problem)
        for start in range(0, len(rows), len(self._slab.children[0])):
            self._scatter(rows[start : start + len(self._slab.children[0])], 0)
            self._absorb_slab(1)

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
            new=sum(len(owner.level(self.depth)) for owner in self.owners),
            broken=findings.as_dict(),
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Expand the level slab by slab."""
        pieces = self._pieces()
        for owner in self.owners:
            owner.starts.append(owner.count)
        tally = Tally(self.problem, happened)
        for start in range(0, len(pieces), SLAB_CHUNKS):
            self._expand_slab(pieces[start : start + SLAB_CHUNKS], tally)
            if self._stop.is_set() or self._late():
                raise Interrupted
        if tally.faults:
            raise ModelFault(min(tally.faults))
        return Expansion(
            fired=tally.fired, cut=tally.cut, happened=tally.happened, deadlock=tally.deadlock
        )

    def level(self, depth: int) -> Iterator[Rows]:
        """A level, owner by owner."""
        for owner in self.owners:
            if len(rows := owner.level(depth)):
                yield rows

    def _worker(self) -> Worker:
        worker: Worker | None = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = Worker(self.problem)
        return worker

    def _pieces(self) -> list[Rows]:
        """The frontier in pieces of a chunk at most; a small one is gathered into few."""
        parts = list(self.level(self.depth))
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
            owner = self.owners[number]
            ends = self._slab.ends[:used]
            more = int(ends[:, number].sum() - (ends[:, number - 1].sum() if number else 0))
            if more:
                owner.make_room(more)
                owner.count = absorb(
                    self.width,
                    owner.table,
                    owner.states,
                    owner.count,
                    self._slab.children,
                    ends,
                    number,
                )

        for _ in self._map(absorb_owner, range(OWNERS)):
            pass

    def _inspect(self) -> Findings:
        def inspect(rows: Rows) -> Findings:
            findings = Findings(self.problem)
            self._worker().expander.inspect(rows, findings)
            return findings

        total = Findings(self.problem)
        for part in self._map(inspect, self._pieces()):
            merge_findings(total, part)
        return total

    def _map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Over the threads where there is enough to share; results come in order."""
        if self.threads == 1 or len(items) == 1 or self._small():
            return map(function, items)
        return self._pool.map(function, items)

    def _small(self) -> bool:
        """Whether handing work to other threads would cost more than doing it."""
        frontier = (
            sum(len(owner.level(self.depth)) for owner in self.owners) if self.depth >= 0 else 0
        )
        return frontier + self.pending < CHUNK_ROWS


def merge_findings(total: Findings, part: Findings) -> None:
    """Keep the least violating state of each invariant."""
    for i, words in part.as_dict().items():
        if not total.broken[i] or words < tuple(int(w) for w in total.least[i]):
            total.broken[i] = True
            total.least[i] = words
    total.faults += part.faults
