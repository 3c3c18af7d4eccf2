"""The loops over sorted runs, to be compiled: see `checker.storage.runs`."""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler.machine_words import below, room, shifted
from waterline.checker.storage.blocks import hash_row, owner_of, same_row

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
    """Whether the words of `hold` come before those of a row."""
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
