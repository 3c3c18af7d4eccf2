"""State index: number of a state by hash, compared word by word.

The two loops are compiled; there a number is a word of 64 bits, and arithmetic wraps. A slot of the
table is 0, or a state's number plus one.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine_words import shifted
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.graph.adjacency import Numbers
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.blocks import NUMBER, block_of, hash_row, same_row

MISSING = -1
"""The number of a state that is not there."""
_SLOTS_A_STATE = 2
"""Slots a state, so that it lies near the slot that its hash names."""


def slot_of(rows: Any, row: int, words: int, slots: int) -> int:
    """Where in a table a state is looked for first."""
    slot: int = shifted((hash_row(rows, row, words) & 0xFFFFFFFF) * slots, 32)
    return slot


def enter_rows(rows: Any, n: int, words: int, table: Any, slots: int) -> int:
    """Enter distinct rows by their numbers."""
    for row in range(n):
        at = slot_of(rows, row, words, slots)
        while table[at] != 0:
            at += 1
            if at == slots:
                at = 0
        table[at] = row + 1
    return 0


def find_rows(
    rows: Any, words: int, table: Any, slots: int, sought: Any, n: int, found: Any
) -> int:
    """found[i] becomes the number of sought[i], -1 of one that is not there."""
    for i in range(n):
        at = slot_of(sought, i, words, slots)
        while table[at] != 0 and not same_row(rows, table[at] - 1, sought, i, words):
            at += 1
            if at == slots:
                at = 0
        found[i] = table[at] - 1
    return 0


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loops for states of so many words."""
    rows, numbers = block_of(words), ArrayValue("%", "i32")
    return own_recipe(
        (enter_rows, (rows, NUMBER, constant(words), numbers, NUMBER)),
        (find_rows, (rows, constant(words), numbers, NUMBER, rows, NUMBER, numbers)),
    )


class Index:
    """The numbers of distinct states."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._functions = load_program(recipe_of(rows.shape[1]))
        self._slots = max(1, _SLOTS_A_STATE * len(rows))
        self._table: NDArray[np.uint32] = np.zeros(self._slots, np.uint32)
        self._functions["enter_rows"](address(rows), len(rows), address(self._table), self._slots)

    def numbers_of(self, rows: Rows) -> Numbers:
        """The number of each state, `MISSING` for one that is none of these."""
        found: Numbers = np.empty(len(rows), np.int32)
        self._functions["find_rows"](
            address(self._rows),
            address(self._table),
            self._slots,
            address(rows),
            len(rows),
            address(found),
        )
        return found
