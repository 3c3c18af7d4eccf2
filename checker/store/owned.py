"""One owner's states in memory, in order of discovery, with a table to find them by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.store.blocks import OWNED_MAX, Rows, absorb, rehash, width_of
from checker.store.reserve import Reserve

_SLOTS_MIN = 512
_LOAD_MAX = 0.8
_GROWTH = 1.4
"""Tables are filled to 80% and grow by 40%, so that a slot's 4 bytes are 5 to 7 a state."""


class TooManyStates(Exception):
    """One owner's share of the states is more than its table can number."""


class Owned:
    """Distinct states, at most `rows_max`. `states[:count]` are they; what lies beyond is room.

    `phase`, from 0 to 1, is where between two growths the table begins: owners that fill alike
    should differ in it, or all their tables would be at their emptiest at once.
    """

    def __init__(self, words: int, rows_max: int = OWNED_MAX, *, phase: float = 0.0) -> None:
        self.width = width_of(words)
        self.rows_max = rows_max
        self._reserve = Reserve(rows_max, words)
        self.states: Rows = self._reserve.rows
        self.table: NDArray[np.uint32] = np.zeros(int(_SLOTS_MIN * _GROWTH**phase), np.uint32)
        self.count = 0

    def absorb(self, blocks: NDArray[np.uint64], ends: NDArray[np.int64], number: int) -> None:
        """Add what is new among this owner's rows of blocks that `scatter` has grouped."""
        more = int(ends[:, number].sum() - (ends[:, number - 1].sum() if number else 0))
        if more:
            self.make_room(more)
            self.count = absorb(
                self.width, self.table, self.states, self.count, blocks, ends, number
            )

    def make_room(self, more: int) -> None:
        """Room for `more` states, in the array and in the table."""
        wanted = self.count + more
        if wanted > self.rows_max:
            raise TooManyStates
        self._reserve.expect(wanted)
        if wanted > _LOAD_MAX * len(self.table):
            slots = max(int(len(self.table) * _GROWTH), int(wanted / _LOAD_MAX) + 1)
            # The old table goes first: everything in it can be found again from the states.
            self.table = np.zeros(0, np.uint32)
            self.table = np.zeros(slots, np.uint32)
            rehash(self.width, self.table, self.states, self.count)

    def append(self, rows: Rows) -> None:
        """Add states that are known to be new, and not yet in the table: see `index`."""
        if self.count + len(rows) > self.rows_max:
            raise TooManyStates
        self._reserve.expect(self.count + len(rows))
        self.states[self.count : self.count + len(rows)] = rows
        self.count += len(rows)

    def index(self) -> None:
        """Make the table anew, for whatever states there are."""
        self.table = np.zeros(max(_SLOTS_MIN, int(self.count / _LOAD_MAX) + 1), np.uint32)
        rehash(self.width, self.table, self.states, self.count)

    def truncate(self, count: int) -> None:
        """Forget all but the first `count` states."""
        self.count = count
        self.index()

    def clear(self) -> None:
        """Forget everything."""
        if self.count:
            self.table[:] = 0
        self.count = 0
