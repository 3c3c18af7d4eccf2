"""Past levels: their states are only in compact tables, and are rebuilt from there."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage.compact_tables import CompactTables

_ROWS_MIN = 1 << 16
_SHARE = 64
"""Small levels are found together, up to this part of all states: each time the tables are read as
a whole.
"""
_BLOCK_ROWS = 1 << 16


class PastLevels:
    """Levels of the tables; several threads may ask at once, while no state is added."""

    def __init__(self, tables: CompactTables, owners: int) -> None:
        self._tables = tables
        self._owners = owners
        self._finding = threading.Lock()
        self._first, self._last = 0, -1
        self._rows: Rows = np.zeros((0, 0), np.uint64)
        self._places: NDArray[np.int64] = np.zeros(0, np.int64)
        """Depth and owner of each row that is at hand, as one number; they rise."""

    def states(self, depth: int, owner: int, sizes: Sequence[int], count: int) -> Iterator[Rows]:
        """An owner's states of a level; `sizes` are those of all levels, `count` all states."""
        with self._finding:
            if not self._first <= depth <= self._last:
                first, last = _together(depth, sizes, max(_ROWS_MIN, count // _SHARE))
                if first < last:
                    self._find(first, last)
            is_at_hand = self._first <= depth <= self._last
            rows, places = self._rows, self._places
        if not is_at_hand:
            for found, _ in self._tables.states(owner, depth, depth, rows=_BLOCK_ROWS):
                yield found
            return
        place = depth * self._owners + owner
        start, stop = np.searchsorted(places, [place, place + 1])
        if start < stop:
            yield rows[start:stop]

    def forget(self) -> None:
        """Give back what is at hand."""
        self._first, self._last = 0, -1
        self._rows, self._places = np.zeros((0, 0), np.uint64), np.zeros(0, np.int64)

    def _find(self, first: int, last: int) -> None:
        found: list[Rows] = [self._tables.none()]
        places: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        for owner in range(self._owners):
            for rows, depths in self._tables.states(owner, first, last, rows=_BLOCK_ROWS):
                found.append(rows)
                places.append(depths * self._owners + owner)
        together = np.concatenate(places)
        order = np.argsort(together, kind="stable")
        self._rows, self._places = np.concatenate(found)[order], together[order]
        self._first, self._last = first, last


def _together(depth: int, sizes: Sequence[int], most: int) -> tuple[int, int]:
    """The levels around one that have at most so many states, half of these above it."""
    first = last = depth
    states = sizes[depth]
    while first > 0 and states + sizes[first - 1] <= most // 2:
        first -= 1
        states += sizes[first]
    while last + 1 < len(sizes) and states + sizes[last + 1] <= most:
        last += 1
        states += sizes[last]
    return first, last
