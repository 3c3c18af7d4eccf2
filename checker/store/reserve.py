"""Room for states that grows without ever being copied.

Address space is reserved once, generously; memory is taken page by page as it is written. So there
is no moment at which an array exists twice, and what is held is what is used.
"""

from __future__ import annotations

import mmap

import numpy as np

from checker.rows import Rows

_WORD_BYTES = 8
HUGE_FROM_BYTES = 4 << 20
"""From this size on, large pages are asked for: fewer misses, and little wasted at the end."""


class Reserve:
    """A block of at most `rows_max` states of `words` words; `rows` is the whole of it.

    Raises `MemoryError` when the address space cannot be had.
    """

    __slots__ = ("_advised", "_map", "rows")

    def __init__(self, rows_max: int, words: int) -> None:
        size = rows_max * words * _WORD_BYTES
        # Not counted against what the system is willing to promise, where it can be told so.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
        try:
            self._map = mmap.mmap(-1, size, flags=flags)
        except (OSError, ValueError) as problem:
            raise MemoryError(
                f"{size / 1e9:.1f} GB of address space cannot be reserved: {problem}; "
                "lift the limit on address space (ulimit -v)"
            ) from None
        self.rows: Rows = np.frombuffer(self._map, np.uint64).reshape(rows_max, words)
        self._advised = False

    def expect(self, rows: int) -> None:
        """Say how many rows that follow each other will be in use, before they are written."""
        if not self._advised and rows * self.rows.shape[1] * _WORD_BYTES >= HUGE_FROM_BYTES:
            self._advised = True
            if hasattr(mmap, "MADV_HUGEPAGE"):
                self._map.madvise(mmap.MADV_HUGEPAGE)
