"""Sorted runs: immutable files of distinct states, in the order of their hashes.

Sorted by (hash, words), so that two runs merge in one pass, a batch of candidates gallops through a
run, and every owner's share is one contiguous range. A file is a plain `.npy` of uint64 rows, read
through a memory map, never unpickled.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.store.blocks import Rows, Width, hash_row, hashes


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
def _settle(width: Any, rows: Any, order: Any, keys: Any, out: Any) -> int:
    """Write rows in the order of runs, each once, to `out`; `order` sorts them by hash already."""
    n = order.shape[0]
    written = 0
    group = 0
    for i in range(n):
        row = order[i]
        if i > 0 and keys[row] != keys[order[i - 1]]:
            group = written
        # Rows of one hash are nearly always one state; where not, insert in order of words.
        place = written
        found = False
        while place > group:
            compared = _before(width, rows, row, keys[row], out, place - 1, keys[row])
            if compared == 0:
                found = True
                break
            if compared > 0:
                break
            place -= 1
        if found:
            continue
        for later in range(written, place, -1):
            for w in range(len(width)):
                out[later, w] = out[later - 1, w]
        for w in range(len(width)):
            out[place, w] = rows[row, w]
        written += 1
    return written


def sort_unique(width: Width, rows: Rows) -> Rows:
    """The distinct rows, in the order of runs."""
    keys = hashes(width, rows)
    out: Rows = np.empty_like(rows)
    written = _settle(width, rows, np.argsort(keys), keys, out)
    return out[:written]


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
    return candidates[~seen]


@njit(nogil=True, cache=True)
def _merge(width: Any, left: Any, right: Any, out: Any) -> None:
    """Merge two disjoint runs."""
    i = 0
    j = 0
    n = left.shape[0]
    m = right.shape[0]
    for k in range(n + m):
        take_left = j == m
        if i < n and j < m:
            left_key = hash_row(width, left, i)
            take_left = _before(width, left, i, left_key, right, j, hash_row(width, right, j)) < 0
        if take_left:
            for w in range(len(width)):
                out[k, w] = left[i, w]
            i += 1
        else:
            for w in range(len(width)):
                out[k, w] = right[j, w]
            j += 1


def merge(width: Width, runs: Sequence[Rows]) -> Rows:
    """One run that holds what these disjoint runs hold."""
    merged = runs[-1]
    for run in reversed(runs[:-1]):
        out: Rows = np.empty((len(run) + len(merged), len(width)), np.uint64)
        _merge(width, run, merged, out)
        merged = out
    return merged


def write_run(path: Path, rows: Rows) -> None:
    """Write a run so that it is there whole or not at all, whoever else is writing the same one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, np.ascontiguousarray(rows), allow_pickle=False)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_run(path: Path) -> Rows:
    """A run, mapped into memory."""
    rows: Rows = np.load(path, mmap_mode="r", allow_pickle=False)
    return rows


def warm_up(width: Width) -> None:
    """Compile, or load, everything above for states of this many words."""
    rows: Rows = np.zeros((1, len(width)), np.uint64)
    unseen(width, sort_unique(width, rows), [rows])
    merge(width, [rows, rows])
