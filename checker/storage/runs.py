"""Sorted runs: distinct states in the order of their hashes.

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
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.blocks import NUMBER, NUMBERS, block_of
from waterline.checker.storage.run_loops import (
    PASS_BITS,
    first_of,
    mark_seen,
    merge_from,
    sort_once,
)

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
