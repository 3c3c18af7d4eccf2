"""Least parent and step of each state of a level.

A state is found by its hash, which says where in the level it must be; then all words are compared.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine_words import below, shifted
from waterline.checker.compiler.origins import row_of, step_of
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.blocks import NUMBER, NUMBERS, block_of, hash_row, hashes, same_row

_BUCKET_ROWS = 4
"""States that are looked through for one, about."""
_NO_WAY = (1 << 32) - 1
"""A step of 32 bits that stands for none: -1 in an array of numbers with a sign."""


def _precedes(left: Any, i: int, left_step: int, right: Any, j: int, step: int, words: int) -> bool:
    """True if (left[i], left_step) is less than (right[j], step)."""
    if step == _NO_WAY:
        return True
    for w in range(words):
        if left[i, w] != right[j, w]:
            return bool(below(left[i, w], right[j, w]))
    return left_step < step


def offer_all(
    level: Any,
    starts: Any,
    buckets: int,
    base: int,
    shift: int,
    parents: Any,
    steps: Any,
    targets: Any,
    origins: Any,
    n: int,
    sources: Any,
    words: int,
) -> int:
    """Lower the way into every state of `level` that targets[:n] lead to."""
    for i in range(n):
        place = shifted(hash_row(targets, i, words) - base, shift)
        if not below(place, buckets):
            continue
        for at in range(starts[place], starts[place + 1]):
            if not same_row(level, at, targets, i, words):
                continue
            source, step = row_of(origins[i]), step_of(origins[i])
            if _precedes(sources, source, step, parents, at, steps[at], words):
                steps[at] = step
                for w in range(words):
                    parents[at, w] = sources[source, w]
            break
    return 0


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loop of this module for states of so many words."""
    rows = block_of(words)
    places = rows, NUMBERS, NUMBER, NUMBER, NUMBER, rows, ArrayValue("%", "i32")
    given = *places, rows, NUMBERS, NUMBER, rows, constant(words)
    return own_recipe((offer_all, given))


class LeastArrivals:
    """The least way into each of `level`, distinct states in the order of their hashes.

    `parents` and `steps` are theirs, row by row. Among equal parents the least step is the first in
    the table of contents, then that with the least arguments (`checker.compiler.origins`). It is -1
    where nothing has led so far.
    """

    def __init__(self, level: Rows) -> None:
        self.level = level
        self.parents = np.zeros_like(level)
        self.steps: NDArray[np.int32] = np.full(len(level), -1, np.int32)
        self._offer = load_program(recipe_of(level.shape[1]))["offer_all"]
        keys = hashes(level)
        self._base = keys[0] if len(level) else np.uint64(0)
        span = int(keys[-1] - keys[0]) if len(level) else 0
        wanted = max(1, len(level) // _BUCKET_ROWS)
        self._shift = np.uint64(min(63, (span // wanted).bit_length()))
        places = ((keys - self._base) >> self._shift).astype(np.int64)
        self._starts: NDArray[np.int64] = np.searchsorted(
            places, np.arange((places[-1] if len(level) else 0) + 2)
        )

    def offer(self, targets: Rows, origins: NDArray[np.int64], n: int, sources: Rows) -> None:
        """Take in `n` transitions; an origin's row is one of `sources`."""
        self._offer(
            address(self.level),
            address(self._starts),
            len(self._starts) - 1,
            int(self._base.view(np.int64)),
            int(self._shift),
            address(self.parents),
            address(self.steps),
            address(targets),
            address(origins),
            n,
            address(sources),
        )
