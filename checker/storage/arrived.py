"""States of the last two levels, by owner and thread, in the order of arrival.

Each thread writes to a part of an owner's arena that is its own, so no two write to one cache line.
There are two arenas an owner, used by turns: one holds the level that is being expanded, the other
the states that are new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.arena import CACHE_LINE_BYTES, Reserve
from waterline.checker.storage.compact_loops import ARRIVED, NEXT, ROOM

_KEPT_BYTES = 1 << 16
"""Bytes of each part that stay with it when a level is forgotten: allocation takes time."""


class Arrived:
    """New states, and those of the level before; at most `rows_each` of an owner by one thread."""

    def __init__(self, words: int, owners: int, *, threads: int, rows_each: int) -> None:
        self.rows_each = rows_each
        self._owners = owners
        self._kept_rows = max(1, _KEPT_BYTES // (words * 8))
        self.rooms = [_apart(owners) for _ in range(threads)]
        self._arenas, self._others = (
            [Reserve(rows_each * threads, words) for _ in range(owners)] for _ in range(2)
        )
        self._starts: NDArray[np.int64] = np.arange(threads, dtype=np.int64) * rows_each
        self._before = self._empty()
        self._used, self._used_before = self._empty(), self._empty()
        """How far the parts of each arena have been written to and not been given back."""
        self.is_spent = False
        """Whether some of the level before is no longer here."""
        self._restart()

    def close(self) -> None:
        """Give all memory back now."""
        self._arenas, self._others = [], []

    def use(self, cells: NDArray[np.int64]) -> None:
        """Have new states written here."""
        cells[:, ARRIVED] = [arena.place for arena in self._arenas]

    def begin_level(self) -> None:
        """Forget the level before the last; the last takes its place."""
        before = self.ends()
        rows = np.maximum(self._kept_rows, before - self._starts[:, None])
        self._arenas, self._others = self._others, self._arenas
        self._used, self._used_before = self._used_before, np.maximum(self._used, before)
        # Where much was written, no more is kept than the next level will take.
        for thread, owner in np.argwhere(self._used > self._starts[:, None] + rows):
            stop = int(self._starts[thread] + rows[thread, owner])
            self._arenas[owner].release(stop, int(self._used[thread, owner]))
            self._used[thread, owner] = stop
        self._before, self.is_spent = before, False
        self._restart()

    def spend(self, rows: Rows) -> None:
        """Give back the memory of a piece of the level before: see `is_spent`."""
        self.is_spent = True
        place = address(rows)
        for arena in self._others:
            start = (place - arena.place) // (rows.shape[1] * rows.itemsize)
            if 0 <= start < len(arena.rows):
                arena.release(start, start + len(rows))

    def ends(self) -> NDArray[np.int64]:
        """Where the new states of each thread and owner end."""
        return np.array([room[:, NEXT] for room in self.rooms])

    def counts(self) -> NDArray[np.int64]:
        """How many new states each owner has."""
        count: NDArray[np.int64] = (self.ends() - self._starts[:, None]).sum(axis=0)
        return count

    def new(self, owner: int) -> Iterator[Rows]:
        """The new states of an owner, in a few blocks."""
        return self._blocks(self._arenas[owner], [int(room[owner, NEXT]) for room in self.rooms])

    def before(self, owner: int) -> Iterator[Rows]:
        """An owner's states of the level before, in a few blocks."""
        return self._blocks(self._others[owner], self._before[:, owner].tolist())

    def is_full(self, owner: int) -> bool:
        """Whether the part of some thread has no more room."""
        return any(
            room[owner, NEXT] >= start + self.rows_each
            for room, start in zip(self.rooms, self._starts, strict=True)
        )

    def _blocks(self, arena: Reserve, ends: Sequence[int]) -> Iterator[Rows]:
        for start, stop in zip(self._starts.tolist(), ends, strict=True):
            if start < stop:
                yield arena.rows[start:stop]

    def _empty(self) -> NDArray[np.int64]:
        return np.repeat(self._starts[:, None], self._owners, axis=1)

    def _restart(self) -> None:
        for room, start in zip(self.rooms, self._starts, strict=True):
            room[:, NEXT] = start


def _apart(owners: int) -> NDArray[np.int64]:
    """A thread's room with each owner, in cache lines that nothing else is in."""
    whole: NDArray[np.int64] = np.zeros(owners * ROOM + 2 * CACHE_LINE_BYTES // 8, np.int64)
    skipped = -address(whole) % CACHE_LINE_BYTES // 8
    return whole[skipped : skipped + owners * ROOM].reshape(owners, ROOM)
