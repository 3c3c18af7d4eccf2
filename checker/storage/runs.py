"""Sorted runs of states in files: their loops, merges and differences.

Sorted by (hash, words), so that two runs merge in one pass, a batch of candidates gallops through a
run, and every owner's share of a run is one contiguous range, however many owners there are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine import Functions
from waterline.checker.compiler.machine_words import below, room, shifted
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.blocks import NUMBER, NUMBERS, block_of, hash_row, owner_of, same_row

SMALL_BITS = 3
"""Rows are dealt into buckets of about eight, and each bucket is sorted by insertion."""
PASS_BITS = 8
"""Buckets that one pass deals into: few enough that all their ends stay in cache."""


def _before(
    left: Any, i: int, left_hash: int, right: Any, j: int, right_hash: int, words: int
) -> int:
    """-1, 0 or 1: how row i of `left` compares with row j of `right` in the order of runs."""
    if left_hash != right_hash:
        return -1 if below(left_hash, right_hash) else 1
    for w in range(words):
        if left[i, w] != right[j, w]:
            return -1 if below(left[i, w], right[j, w]) else 1
    return 0


def _copy(rows: Any, i: int, out: Any, to: int, words: int) -> None:
    for w in range(words):
        out[to, w] = rows[i, w]


def _deal(
    rows: Any,
    keys: Any,
    lo: int,
    hi: int,
    shift: int,
    bits: int,
    out: Any,
    dealt: Any,
    starts: Any,
    ends: Any,
    words: int,
) -> None:
    """Deal rows[lo:hi] into 2**bits buckets of `out[lo:hi]` by their keys' bits above `shift`.

    starts[b] becomes where a bucket begins, and starts[2**bits] where the last one ends. `ends` is
    room for as many.
    """
    buckets = 1 << bits
    mask = buckets - 1
    shift = min(shift, 63)  # more where there is but one bucket
    for bucket in range(buckets + 1):
        starts[bucket] = 0
    for i in range(lo, hi):
        starts[(shifted(keys[i], shift) & mask) + 1] += 1
    starts[0] = lo
    for bucket in range(buckets):
        starts[bucket + 1] += starts[bucket]
        ends[bucket] = starts[bucket]
    for i in range(lo, hi):
        key = keys[i]
        bucket = shifted(key, shift) & mask
        to = ends[bucket]
        ends[bucket] = to + 1
        dealt[to] = key
        _copy(rows, i, out, to, words)


def _insert(rows: Any, keys: Any, lo: int, hi: int, words: int) -> None:
    """Sort a few rows."""
    hold = room(words)
    for i in range(lo + 1, hi):
        key = keys[i]
        if below(keys[i - 1], key):
            continue
        for w in range(words):
            hold[w] = rows[i, w]
        to = i
        while to > lo:
            other = keys[to - 1]
            if below(other, key) or (other == key and not _held_before(hold, rows, to - 1, words)):
                break
            keys[to] = other
            _copy(rows, to - 1, rows, to, words)
            to -= 1
        keys[to] = key
        for w in range(words):
            rows[to, w] = hold[w]


def _held_before(hold: Any, rows: Any, row: int, words: int) -> bool:
    """True if the words of `hold` come before those of a row."""
    for w in range(words):
        if hold[w] != rows[row, w]:
            return bool(below(hold[w], rows[row, w]))
    return False


def sort_once(
    rows: Any,
    n: int,
    keys: Any,
    once: Any,
    once_keys: Any,
    twice: Any,
    twice_keys: Any,
    coarse: Any,
    fine: Any,
    ends: Any,
    words: int,
) -> int:
    """Sort by dealing out twice, then drop doubles; the result is at the start of `twice`.

    `coarse`, `fine` and `ends` are room for where buckets begin and end. Returns how many rows are
    left.
    """
    least = -1
    most = 0
    for i in range(n):
        key = hash_row(rows, i, words)
        keys[i] = key
        if below(key, least):
            least = key
        if below(most, key):
            most = key
    for i in range(n):
        keys[i] -= least
    span = 0
    if n > 0:
        while span < 64 and shifted(most - least, min(span, 63)) != 0:
            span += 1
    wanted = 0
    while n >> (wanted + SMALL_BITS) > 0:
        wanted += 1
    first = min(wanted, PASS_BITS, span)
    second = min(max(wanted - first, 0), 2 * PASS_BITS, span - first)
    _deal(rows, keys, 0, n, span - first, first, once, once_keys, coarse, ends, words)
    for bucket in range(1 << first):
        lo = coarse[bucket]
        hi = coarse[bucket + 1]
        low = span - first - second
        _deal(once, once_keys, lo, hi, low, second, twice, twice_keys, fine, ends, words)
        for part in range(1 << second):
            _insert(twice, twice_keys, fine[part], fine[part + 1], words)
    kept = 0
    for i in range(n):
        key = twice_keys[i]
        if kept > 0 and twice_keys[kept - 1] == key and same_row(twice, i, twice, kept - 1, words):
            continue
        twice_keys[kept] = key
        _copy(twice, i, twice, kept, words)
        kept += 1
    return kept


def mark_seen(candidates: Any, n: int, run: Any, end: int, seen: Any, words: int) -> int:
    """seen[i] becomes 1 for every candidate that the run holds; both are in order.

    What another run holds already need not be looked for.
    """
    at = 0
    for i in range(n):
        if seen[i] != 0:
            continue
        key = hash_row(candidates, i, words)
        # Gallop: double the step while what is there is still smaller, then search in between.
        step = 1
        low = at
        high = at
        while high < end and _is_before(run, high, candidates, i, key, words):
            low = high + 1
            high += step
            step *= 2
        high = min(high, end)
        while low < high:
            middle = (low + high) >> 1
            if _is_before(run, middle, candidates, i, key, words):
                low = middle + 1
            else:
                high = middle
        at = low
        if at < end and same_row(run, at, candidates, i, words):
            seen[i] = 1
    return 0


def _is_before(run: Any, row: int, candidates: Any, i: int, key: int, words: int) -> bool:
    return _before(run, row, hash_row(run, row, words), candidates, i, key, words) < 0


def merge_from(
    left: Any, n: int, right: Any, m: int, at: Any, out: Any, room_for: int, words: int
) -> int:
    """Merge two disjoint runs from rows at[0] and at[1] on, as far as `out` reaches."""
    i = at[0]
    j = at[1]
    left_key = hash_row(left, i, words) if i < n else 0
    right_key = hash_row(right, j, words) if j < m else 0
    for k in range(room_for):
        if j == m or (i < n and _before(left, i, left_key, right, j, right_key, words) < 0):
            _copy(left, i, out, k, words)
            i += 1
            if i < n:
                left_key = hash_row(left, i, words)
        else:
            _copy(right, j, out, k, words)
            j += 1
            if j < m:
                right_key = hash_row(right, j, words)
    at[0] = i
    at[1] = j
    return 0


def first_of(run: Any, n: int, owners: int, owner: int, words: int) -> int:
    """The first row of a run that belongs to `owner` or a later one."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        if owner_of(hash_row(run, middle, words), owners) < owner:
            low = middle + 1
        else:
            high = middle
    return low


_MERGE_ROWS = 1 << 18


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loops over runs, for states of so many words."""
    rows, of_words = block_of(words), constant(words)
    sort = rows, NUMBER, NUMBERS, rows, NUMBERS, rows, NUMBERS, NUMBERS, NUMBERS, NUMBERS, of_words
    return own_recipe(
        (sort_once, sort),
        (mark_seen, (rows, NUMBER, rows, NUMBER, ArrayValue("%", "i8"), of_words)),
        (merge_from, (rows, NUMBER, rows, NUMBER, NUMBERS, rows, NUMBER, of_words)),
        (first_of, (rows, NUMBER, NUMBER, NUMBER, of_words)),
    )


@functools.cache
def _functions(words: int) -> Functions:
    return load_program(recipe_of(words))


def sort_unique(rows: Rows, scratch: Scratch | None = None) -> Rows:
    """The distinct rows, in the order of runs.

    With a `scratch` the result is part of it, and lasts until it is used again.
    """
    n, words = rows.shape
    arrays = (scratch or Scratch()).room(n, words)
    kept = _functions(words)["sort_once"](address(rows), n, *map(address, arrays))
    out: Rows = arrays[3][:kept]
    return out


class Scratch:
    """Room to sort in, kept from one time to the next.

    Memory that is new costs more than the sorting: the system has to find it and clear it.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._arrays: tuple[Any, ...] = ()
        self._places: tuple[NDArray[np.int64], ...] = (
            np.empty((1 << PASS_BITS) + 1, np.int64),
            np.empty((1 << 2 * PASS_BITS) + 1, np.int64),
            np.empty((1 << 2 * PASS_BITS) + 1, np.int64),
        )

    def room(self, rows: int, words: int) -> tuple[Any, ...]:
        """Keys; rows and keys; rows and keys; where buckets begin and end."""
        if rows > self._rows or not self._arrays or self._arrays[1].shape[1] != words:
            self._arrays = ()
            self._rows = rows + rows // 4
            self._arrays = tuple(
                np.empty((self._rows, words), np.uint64)
                if i % 2
                else np.empty(self._rows, np.uint64)
                for i in range(5)
            )
        return (*(array[:rows] for array in self._arrays), *self._places)


def unseen(candidates: Rows, runs: Sequence[Rows]) -> Rows:
    """The candidates, sorted and distinct, that none of the runs holds.

    What is known is most often in the last, youngest runs, which are the smallest.
    """
    n, words = candidates.shape
    seen: NDArray[np.bool_] = np.zeros(n, np.bool_)
    mark = _functions(words)["mark_seen"]
    for run in reversed(runs):
        mark(address(candidates), n, address(run), len(run), address(seen))
    return candidates[~seen] if seen.any() else candidates


def merge(runs: Sequence[Rows]) -> Iterator[Rows]:
    """Merge disjoint runs into one, yielded in blocks: the largest is never in memory.

    The small ones are merged first; the last two, the largest and all the others, as they are read.
    A block is valid until the next one is requested.
    """
    by_size = sorted(runs, key=len)
    words = by_size[0].shape[1]
    others = by_size[0]
    for run in by_size[1:-1]:
        out: Rows = np.empty((len(others) + len(run), words), np.uint64)
        _merge(others, run, np.zeros(2, np.int64), out)
        others = out
    last = by_size[-1]
    at: NDArray[np.int64] = np.zeros(2, np.int64)
    room: Rows = np.empty((_MERGE_ROWS, words), np.uint64)
    while (left := len(others) + len(last) - int(at.sum())) > 0:
        block = room[:left]
        _merge(others, last, at, block)
        yield block


def _merge(left: Rows, right: Rows, at: NDArray[np.int64], out: Rows) -> None:
    """Fill `out` from rows at[0] and at[1] on, which are raised by what was taken."""
    _functions(out.shape[1])["merge_from"](
        address(left), len(left), address(right), len(right), address(at), address(out), len(out)
    )


def share(run: Rows, owners: int, owner: int) -> Rows:
    """Return the part of a run that belongs to `owner`, one of so many."""
    n, words = run.shape
    first = _functions(words)["first_of"]
    return run[first(address(run), n, owners, owner) : first(address(run), n, owners, owner + 1)]
