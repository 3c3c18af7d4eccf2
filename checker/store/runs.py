"""Sorted runs: distinct states in the order of their hashes.

Sorted by (hash, words), so that two runs merge in one pass, a batch of candidates gallops through a
run, and every owner's share of a run is one contiguous range, however many owners there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.store.blocks import Rows, Width, hash_row, owner_of

_SMALL_BITS = 3
"""Rows are dealt into buckets of about eight, each of which is sorted by insertion."""
_PASS_BITS = 8
"""Buckets that one pass deals into: few enough that all their ends stay in cache."""
_MERGE_ROWS = 1 << 18
_ONE = np.uint64(1)


@njit(nogil=True, inline="always")
def _before(
    width: Any, left: Any, i: int, left_hash: Any, right: Any, j: int, right_hash: Any
) -> int:
    """-1, 0 or 1: how row i of `left` compares with row j of `right` in the order of runs."""
    if left_hash != right_hash:
        return -1 if left_hash < right_hash else 1
    for w in range(len(width)):
        if left[i, w] != right[j, w]:
            return -1 if left[i, w] < right[j, w] else 1
    return 0


@njit(nogil=True, cache=True)
def _deal(
    width: Any, rows: Any, keys: Any, lo: int, hi: int, shift: Any, bits: Any, out: Any, dealt: Any
) -> Any:
    """Deal rows[lo:hi] into 2**bits buckets of `out[lo:hi]` by their keys' bits above `shift`.

    Returns where each bucket begins, and where the last one ends.
    """
    mask = (_ONE << np.uint64(bits)) - _ONE
    starts = np.zeros((1 << bits) + 1, np.int64)
    for i in range(lo, hi):
        starts[np.int64((keys[i] >> shift) & mask) + 1] += 1
    starts[0] = lo
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    ends = starts.copy()
    for i in range(lo, hi):
        bucket = np.int64((keys[i] >> shift) & mask)  # type: ignore[assignment]
        to = ends[bucket]
        ends[bucket] = to + 1
        dealt[to] = keys[i]
        for w in range(len(width)):
            out[to, w] = rows[i, w]
    return starts


@njit(nogil=True, cache=True)
def _insert(width: Any, rows: Any, keys: Any, lo: int, hi: int, hold: Any) -> None:
    """Sort a few rows."""
    for i in range(lo + 1, hi):
        key = keys[i]
        if keys[i - 1] < key:
            continue
        for w in range(len(width)):
            hold[0, w] = rows[i, w]
        to = i
        while to > lo:
            other = keys[to - 1]
            if other < key or (
                other == key and _before(width, hold, 0, key, rows, to - 1, key) >= 0
            ):
                break
            keys[to] = other
            for w in range(len(width)):
                rows[to, w] = rows[to - 1, w]
            to -= 1
        keys[to] = key
        for w in range(len(width)):
            rows[to, w] = hold[0, w]


@njit(nogil=True, cache=True)
def _sort(
    width: Any, rows: Any, keys: Any, once: Any, once_keys: Any, twice: Any, twice_keys: Any
) -> int:
    """Sort by dealing out twice, then drop doubles; the result is at the start of `twice`."""
    n = rows.shape[0]
    least: Any = ~np.uint64(0)
    most: Any = np.uint64(0)
    for i in range(n):
        keys[i] = hash_row(width, rows, i)
        least = min(least, keys[i])
        most = max(most, keys[i])
    for i in range(n):
        keys[i] -= least
    span = 0
    while span < 64 and (most - least) >> np.uint64(span) != 0:
        span += 1
    wanted = 0
    while n >> (wanted + _SMALL_BITS) > 0:
        wanted += 1
    first = min(wanted, _PASS_BITS, span)
    second = min(max(wanted - first, 0), 2 * _PASS_BITS, span - first)
    hold = np.empty((1, len(width)), np.uint64)
    high = np.uint64(span - first)
    low = np.uint64(span - first - second)
    coarse = _deal(width, rows, keys, 0, n, high, first, once, once_keys)
    for bucket in range(1 << first):
        fine = _deal(
            width,
            once,
            once_keys,
            coarse[bucket],
            coarse[bucket + 1],
            low,
            second,
            twice,
            twice_keys,
        )
        for part in range(1 << second):
            _insert(width, twice, twice_keys, fine[part], fine[part + 1], hold)
    kept = 0
    for i in range(n):
        key = twice_keys[i]
        if (
            kept > 0
            and twice_keys[kept - 1] == key
            and _before(width, twice, i, key, twice, kept - 1, key) == 0
        ):
            continue
        twice_keys[kept] = key
        for w in range(len(width)):
            twice[kept, w] = twice[i, w]
        kept += 1
    return kept


def sort_unique(width: Width, rows: Rows, scratch: Scratch | None = None) -> Rows:
    """The distinct rows, in the order of runs.

    With a `scratch` the result is part of it, and lasts until it is used again.
    """
    keys, once, once_keys, twice, twice_keys = (scratch or Scratch()).room(len(rows), len(width))
    kept: int = _sort(width, rows, keys, once, once_keys, twice, twice_keys)
    out: Rows = twice[:kept]
    return out


class Scratch:
    """Room to sort in, kept from one time to the next.

    Memory that is new costs more than the sorting: the system has to find it and clear it.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._arrays: tuple[Any, ...] = ()

    def room(self, rows: int, words: int) -> tuple[Any, ...]:
        """Keys; rows and keys; rows and keys."""
        if rows > self._rows or not self._arrays or self._arrays[1].shape[1] != words:
            self._arrays = ()
            self._rows = rows + rows // 4
            self._arrays = tuple(
                np.empty((self._rows, words), np.uint64)
                if i % 2
                else np.empty(self._rows, np.uint64)
                for i in range(5)
            )
        return tuple(array[:rows] for array in self._arrays)


@njit(nogil=True, cache=True)
def _mark_seen(width: Any, candidates: Any, run: Any, seen: Any) -> None:
    """seen[i] becomes True for every candidate that the run holds; both are in order."""
    at = 0
    end = run.shape[0]
    for i in range(candidates.shape[0]):
        key = hash_row(width, candidates, i)
        # Gallop: double the step while what is there is still smaller, then search in between.
        step = 1
        low = at
        high = at
        while (
            high < end
            and _before(width, run, high, hash_row(width, run, high), candidates, i, key) < 0
        ):
            low = high + 1
            high += step
            step *= 2
        high = min(high, end)
        while low < high:
            middle = (low + high) // 2
            if _before(width, run, middle, hash_row(width, run, middle), candidates, i, key) < 0:
                low = middle + 1
            else:
                high = middle
        at = low
        if at < end:
            found = True
            for w in range(len(width)):
                if run[at, w] != candidates[i, w]:
                    found = False
            if found:
                seen[i] = True


def unseen(width: Width, candidates: Rows, runs: Sequence[Rows]) -> Rows:
    """The candidates, sorted and distinct, that none of the runs holds."""
    seen: NDArray[np.bool_] = np.zeros(len(candidates), np.bool_)
    for run in runs:
        _mark_seen(width, candidates, run, seen)
    return candidates[~seen] if seen.any() else candidates


@njit(nogil=True, cache=True)
def _merge(width: Any, left: Any, i: int, right: Any, j: int, out: Any) -> Any:
    """Merge two disjoint runs from rows i and j on, as far as `out` reaches."""
    n = left.shape[0]
    m = right.shape[0]
    left_key = hash_row(width, left, i) if i < n else np.uint64(0)
    right_key = hash_row(width, right, j) if j < m else np.uint64(0)
    for k in range(out.shape[0]):
        take_left = j == m
        if i < n and j < m:
            take_left = _before(width, left, i, left_key, right, j, right_key) < 0
        if take_left:
            for w in range(len(width)):
                out[k, w] = left[i, w]
            i += 1
            if i < n:
                left_key = hash_row(width, left, i)
        else:
            for w in range(len(width)):
                out[k, w] = right[j, w]
            j += 1
            if j < m:
                right_key = hash_row(width, right, j)
    return i, j


def merge(width: Width, runs: Sequence[Rows]) -> Iterator[Rows]:
    """One run that holds what these disjoint runs hold, in blocks: the largest is never in memory.

    The small ones are merged first; the last two, the largest and all the others, as they are read.
    A block lasts until the next is asked for.
    """
    by_size = sorted(runs, key=len)
    others = by_size[0]
    for run in by_size[1:-1]:
        out: Rows = np.empty((len(others) + len(run), len(width)), np.uint64)
        _merge(width, others, 0, run, 0, out)
        others = out
    last = by_size[-1]
    i = j = 0
    room: Rows = np.empty((_MERGE_ROWS, len(width)), np.uint64)
    while i + j < len(others) + len(last):
        block = room[: len(others) + len(last) - i - j]
        i, j = _merge(width, others, i, last, j, block)
        yield block


@njit(nogil=True, cache=True)
def _owner_start(width: Any, run: Any, owners: int, owner: int) -> int:
    """The first row of a run that belongs to `owner` or a later one."""
    low = 0
    high = run.shape[0]
    while low < high:
        middle = (low + high) // 2
        if owner_of(hash_row(width, run, middle), owners) < owner:
            low = middle + 1
        else:
            high = middle
    return low


def share(width: Width, run: Rows, owners: int, owner: int) -> Rows:
    """What `owner` of so many owns of a run."""
    start = _owner_start(width, run, owners, owner)
    return run[start : _owner_start(width, run, owners, owner + 1)]


def warm_up(width: Width) -> None:
    """Compile, or load, everything above for states of this many words."""
    rows: Rows = np.zeros((1, len(width)), np.uint64)
    readonly = rows.copy()
    readonly.flags.writeable = False
    for each in (rows, readonly):
        unseen(width, sort_unique(width, each), [each])
        list(merge(width, [each, each]))  # what it yields does not last, and is not used
        share(width, each, 1, 0)
