"""Engine in memory: threads over blocks of states.

Each thread takes a piece of the frontier, turns it into successors and adds these to the states
that all threads share. They meet only at the end of a level. Which of them adds a state first is
left to chance, and with it the order of the states within a level; nothing that is reported depends
on it.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import (
    Arrivals,
    Expansion,
    Interrupted,
    ModelFault,
    threads_of,
)
from waterline.checker.search.engines.expander import Expander, Findings, Tally, initial_rows
from waterline.checker.search.engines.processes import anonymous_bytes
from waterline.checker.storage.arena import WORD_BYTES
from waterline.checker.storage.compact import CompactVisited
from waterline.checker.storage.entry_layout import widths_of
from waterline.checker.storage.explore_loop import CHUNK_ROWS, DONE, FAULTY
from waterline.checker.storage.runs import sort_unique

OWNERS = 32
PIECES_A_THREAD = 12
PIECE_ROWS_MAX = 16 * CHUNK_ROWS
_SORT_WORDS, _SORT_WORDS_A_WORD = 5, 7
"""Words that it takes to sort a state out of the tables, and more for each of its own: it is read,
copied, dealt twice with its hash, and waits for those before it.
"""
_SORT_BYTES = 20 << 20
"""For the code that sorts, which may have to be compiled first, and its room that never grows."""
_Found = TypeVar("_Found")


class OutOfMemory(Exception):
    """The states no longer fit the memory that was allowed; the level was not expanded."""


class MemoryEngine:
    """Breadth-first search in memory. `name` is how the report calls it.

    `threads` 0 means one for each core. Beyond `memory_bytes`, `expand` leaves the level as it was
    and raises `OutOfMemory`.
    """

    can_shed = False

    def __init__(
        self,
        problem: Problem,
        *,
        name: str = "local",
        threads: int = 0,
        memory_bytes: int | None = None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.name = name
        self.problem = problem
        self.threads = threads_of(threads)
        self.memory_bytes = memory_bytes
        self.words = problem.model.layout.words
        widths = widths_of(problem.model.layout)
        self.visited = CompactVisited(widths, OWNERS, threads=self.threads)
        self.depth = -1
        self._current: list[Rows] = []
        """The level to expand, in pieces; empty until it is needed."""
        self._late = deadline or (lambda: False)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="search")
        self._local = threading.local()
        self._stop = threading.Event()

    def close(self) -> None:
        """End the threads, forget the states, and give all memory back."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._current = []
        self._local = threading.local()
        self.visited.close()

    @property
    def pending(self) -> int:
        """How many states of the next level are known already."""
        return self.visited.pending

    @property
    def frontier(self) -> int:
        """How many states the last level has."""
        return self.visited.size(self.depth) if self.depth >= 0 else 0

    def begin(self) -> None:
        """Make the initial states the pending level."""
        self.visited.add(initial_rows(self.problem))

    def restore(self, levels: Iterable[Sequence[Rows]]) -> None:
        """Take up where another run was: sorted files of every level, the last not yet expanded."""
        for depth, files in enumerate(levels):
            if depth > 0:
                self.visited.begin_level()
            pieces = [piece for rows in files for piece in _cut(rows, PIECE_ROWS_MAX)]
            self._share(pieces, lambda: None, self._add, self._require_room)
            self.depth = depth
            self._require_room()

    def _add(self, rows: Rows, nothing: None, thread: int) -> None:
        self.visited.add(rows, thread)

    def absorb(self) -> Arrivals:
        """The successors have been absorbed as they were made; this checks the new level."""
        if self.depth < 0:
            self.begin()
        self.depth += 1
        self._current = self._pieces(self.depth)
        findings = self._inspect()
        if findings.faults:
            raise ModelFault.among(findings.faults)
        return Arrivals(
            depth=self.depth,
            new=self.frontier,
            broken=findings.as_dict(),
            on=self.name,
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Expand the level, piece by piece."""
        pieces, self._current = self._current or self._pieces(self.depth), []
        self.visited.begin_level()

        def expand(rows: Rows, part: Tally, thread: int) -> None:
            def go_on(job: NDArray[np.int64]) -> int:
                return DONE if self.visited.explore(job, thread) else FAULTY

            for _ in self._expander().explore(rows, part, go_on):
                raise AssertionError("the table makes room itself")
            self.visited.spend(rows)

        tally = Tally(self.problem, happened)
        begun = partial(Tally, self.problem, happened)
        for part in self._share(pieces, begun, expand, self._look):
            tally.add(part)
        self._look()
        if tally.faults:
            raise ModelFault.among(tally.faults)
        return tally.as_expansion()

    def _look(self) -> None:
        if self._stop.is_set() or self._late():
            raise Interrupted
        self._require_room()

    def level(self, depth: int) -> Iterator[Rows]:
        """A level in a few blocks."""
        yield from (rows for _, rows in self.visited.level(depth))

    def sorted_level(self, depth: int) -> Iterator[Rows]:
        """A level in the order of runs, in blocks."""
        sorted_of_owners = self._map(partial(self._sort, depth), range(OWNERS))
        yield from (rows for rows in sorted_of_owners if len(rows))

    def _sort(self, depth: int, owner: int) -> Rows:
        none: Rows = np.zeros((0, self.words), np.uint64)
        return sort_unique(np.concatenate([none, *self.visited.of_level(depth, owner)]))

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """Yield `work(part)` for each part of a level."""
        yield from self._map(work, self._pieces(depth))

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, computed on the threads."""
        yield from self._pool.map(work, items)

    def _require_room(self) -> None:
        if self._is_too_large():
            raise OutOfMemory

    def _is_too_large(self) -> bool:
        if self.memory_bytes is None:
            return False
        return anonymous_bytes() + self._bytes_to_come() > self.memory_bytes

    def _bytes_to_come(self) -> int:
        """How much more may be held before the next look, or while levels are written."""
        widest = max(map(self.visited.size, range(self.depth + 1)), default=0)
        sorted_words = _SORT_WORDS + _SORT_WORDS_A_WORD * self.words
        sorting = self.threads * widest // OWNERS * sorted_words * WORD_BYTES
        return _SORT_BYTES + sorting + self.visited.bytes_to_come

    def _expander(self) -> Expander:
        expander: Expander | None = getattr(self._local, "expander", None)
        if expander is None:
            expander = self._local.expander = Expander(self.problem)
        return expander

    def _pieces(self, depth: int) -> list[Rows]:
        """A level in pieces, so many that all threads end at about the same time.

        Only small parts are copied, several to a piece.
        """
        parts = list(self.level(depth))
        most = sum(len(part) for part in parts) // (self.threads * PIECES_A_THREAD)
        rows = max(CHUNK_ROWS // 4, min(most, PIECE_ROWS_MAX))
        pieces: list[Rows] = []
        few: list[Rows] = []
        for part in parts:
            if len(part) >= min(rows, CHUNK_ROWS):
                pieces += _cut(part, -(-len(part) // -(-len(part) // rows)))
            else:
                few.append(part)
            if few and (sum(map(len, few)) >= rows or part is parts[-1]):
                pieces.append(few[0] if len(few) == 1 else np.concatenate(few))
                few = []
        return pieces

    def _inspect(self) -> Findings:
        def inspect(rows: Rows, findings: Findings, thread: int) -> None:
            self._expander().inspect(rows, findings)

        total = Findings(self.problem)
        for part in self._share(self._current, lambda: Findings(self.problem), inspect):
            total.add(part)
        return total

    def _share(
        self,
        pieces: Sequence[Rows],
        begun: Callable[[], _Found],
        work: Callable[[Rows, _Found, int], None],
        look: Callable[[], None] = lambda: None,
    ) -> list[_Found]:
        """Return each thread's findings, once all pieces are done; threads take piece after piece.

        Each begins with `begun()` and adds to it; `work` also gets the thread's number. `look` is
        called after each piece, and may raise.
        """
        numbers = itertools.count()
        has_failed = threading.Event()

        def take(thread: int) -> _Found:
            found = begun()
            try:
                while (number := next(numbers)) < len(pieces) and not has_failed.is_set():
                    work(pieces[number], found, thread)
                    look()
            except BaseException:
                has_failed.set()
                raise
            return found

        threads = 1 if self._small() else min(self.threads, len(pieces))
        others = [self._pool.submit(take, thread) for thread in range(1, threads)]
        try:
            mine = take(0)
        finally:
            wait(others)
        return [mine, *(other.result() for other in others)]

    def _map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Over the threads where there is enough to share; results come in order.

        Few of them wait at a time, for each may be large.
        """
        if self.threads == 1 or len(items) == 1 or self._small():
            yield from map(function, items)
            return
        waiting: deque[Future[Any]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > self.threads:
                yield waiting.popleft().result()
        for last in waiting:
            yield last.result()

    def _small(self) -> bool:
        """True if handing work to other threads would cost more than doing it."""
        return self.frontier + self.pending < CHUNK_ROWS


def _cut(rows: Rows, size: int) -> list[Rows]:
    """Pieces of so many rows, and one of what is left."""
    return [rows[at : at + size] for at in range(0, len(rows), size)]
