"""Candidates on their way to their owners, each once.

Successors repeat: about four lead to each new state. A table for each owner keeps every one from
being passed on twice by one task.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from checker.store.blocks import Rows, nothing_recent, scatter, width_of
from checker.store.owned import Owned

_RECENT_SLOTS = 1 << 14
BLOCK_ROWS = 1 << 16
"""What is passed on at a time: Spark holds about thirty blocks in Python before it lets them go."""


class Gathering:
    """Distinct candidates by owner, `rows_max` in all or a few more.

    `room` is the most that are added at once.
    """

    def __init__(self, words: int, owners: int, *, rows_max: int, room: int) -> None:
        self.rows_max = rows_max
        self.width = width_of(words)
        self._nothing = nothing_recent(self.width, _RECENT_SLOTS)
        self._recent = self._nothing.copy()
        self._grouped: NDArray[np.uint64] = np.empty((1, room, words), np.uint64)
        self._number: NDArray[np.int64] = np.empty(room, np.int64)
        self._ends: NDArray[np.int64] = np.zeros((1, owners), np.int64)
        self._owned = [Owned(words, rows_max + room) for _ in range(owners)]

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand out what there is."""
        return sum(owned.count for owned in self._owned) >= self.rows_max

    def clear(self) -> None:
        """Begin anew: nothing has been passed on by this task."""
        self._recent[:] = self._nothing
        for owned in self._owned:
            owned.clear()

    def add(self, rows: Rows, written: int) -> None:
        """Take in rows[:written]."""
        ends = self._ends[0]
        scatter(self.width, rows, written, self._recent, self._grouped[0], ends, self._number)
        for owner, owned in enumerate(self._owned):
            owned.absorb(self._grouped, self._ends, owner)

    def take(self) -> Iterator[tuple[int, bytes]]:
        """Hand out everything, as (owner, block), and forget it."""
        for owner, owned in enumerate(self._owned):
            if owned.count:
                for start in range(0, owned.count, BLOCK_ROWS):
                    yield (
                        owner,
                        owned.states[start : min(start + BLOCK_ROWS, owned.count)].tobytes(),
                    )
                owned.clear()
