"""The least way into each state of a sorted level: offered transitions, one keeps the least.

A state is found by its hash, which says where in the level it must be; then all words are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.store.blocks import Rows, Width, hash_row, hashes, same_row

_ZERO = np.uint64(0)
_BUCKET_ROWS = 4
"""States that are looked through for one, about."""


@njit(nogil=True, inline="always")
def _precedes(width: Any, left: Any, i: int, left_code: Any, right: Any, j: int, code: Any) -> bool:
    """Whether (left[i], left_code) is less than (right[j], code); a negative code is no way yet."""
    if code < 0:
        return True
    for w in range(len(width)):
        if left[i, w] != right[j, w]:
            return bool(left[i, w] < right[j, w])
    return bool(left_code < code)


@njit(nogil=True, cache=True)
def _offer(
    width: Any,
    level: Any,
    starts: Any,
    base: Any,
    shift: Any,
    parents: Any,
    codes: Any,
    targets: Any,
    origins: Any,
    n: int,
    sources: Any,
    row_shift: int,
) -> None:
    """Lower the way into every state of `level` that targets[:n] lead to."""
    buckets = np.uint64(starts.shape[0] - 1)
    for i in range(n):
        place = (hash_row(width, targets, i) - base) >> shift
        if place >= buckets:
            continue
        for at in range(starts[place], starts[place + np.uint64(1)]):
            if not same_row(width, level, at, targets, i):
                continue
            source = origins[i] >> row_shift
            code = origins[i] & ((1 << row_shift) - 1)
            if _precedes(width, sources, source, code, parents, at, codes[at]):
                codes[at] = code
                for w in range(len(width)):
                    parents[at, w] = sources[source, w]
            break


class LeastArrivals:
    """The least way into each of `level`, distinct states in the order of their hashes.

    `parents` and `codes` are theirs, row by row. A code is what a kernel writes for an action with
    its arguments; among equal parents the least is the first in the table of contents, then the
    least arguments. It is -1 where nothing has led so far.
    """

    def __init__(self, width: Width, level: Rows, *, row_shift: int) -> None:
        self.level = level
        self.parents = np.zeros_like(level)
        self.codes: NDArray[np.int32] = np.full(len(level), -1, np.int32)
        self._width = width
        self._row_shift = row_shift
        keys = hashes(width, level)
        self._base = keys[0] if len(level) else _ZERO
        span = int(keys[-1] - keys[0]) if len(level) else 0
        wanted = max(1, len(level) // _BUCKET_ROWS)
        self._shift = np.uint64(min(63, (span // wanted).bit_length()))
        places = ((keys - self._base) >> self._shift).astype(np.int64)
        self._starts: NDArray[np.int64] = np.searchsorted(
            places, np.arange((places[-1] if len(level) else 0) + 2)
        )

    def offer(self, targets: Rows, origins: NDArray[np.int64], n: int, sources: Rows) -> None:
        """Take in `n` transitions; an origin is the row of `sources`, then the code."""
        _offer(
            self._width,
            self.level,
            self._starts,
            self._base,
            self._shift,
            self.parents,
            self.codes,
            targets,
            origins,
            n,
            sources,
            self._row_shift,
        )
