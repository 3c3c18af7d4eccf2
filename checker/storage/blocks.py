"""Hashes and owners of blocks of packed states.

The packed state itself is the key everywhere: a hash only says where to look, so no state is ever
mistaken for a visited one.

`hash_row`, `owner_of` and `same_row` are compiled; there a number is a word of 64 bits, and
arithmetic wraps.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine import Functions
from waterline.checker.compiler.machine_words import shifted
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, Number, constant
from waterline.checker.problem.packed_rows import Rows, address

_M1 = 0x9E3779B97F4A7C15 - (1 << 64)
_M2 = 0xBF58476D1CE4E5B9 - (1 << 64)
_M3 = 0x94D049BB133111EB - (1 << 64)
_M2_INVERSE = pow(_M2, -1, 1 << 64) - (1 << 64)
_M3_INVERSE = pow(_M3, -1, 1 << 64)


def hash_row(rows: Any, row: int, words: int) -> int:
    """64 mixed bits of one state, the same on every machine."""
    h = _M1
    for w in range(words):
        h = (h ^ rows[row, w]) * _M2
        h ^= shifted(h, 32)
        h *= _M3
        h ^= shifted(h, 29)
    return h


def first_word(h: int, rows: Any, row: int, words: int) -> int:
    """Return the first word of a state, from its hash and its other words (those of a row).

    Each round of `hash_row` is inverted where its word is known: a product with an odd number, by
    the product with its inverse modulo 2^64, and an added shifted word, by adding it again until
    the lowest bit is reached.
    """
    for taken in range(words):
        h ^= shifted(h, 29) ^ shifted(h, 58)
        h *= _M3_INVERSE
        h ^= shifted(h, 32)
        h *= _M2_INVERSE
        if taken < words - 1:
            h ^= rows[row, words - 1 - taken]
    return h ^ _M1


def owner_of(h: int, owners: int) -> int:
    """Return the owner of a hash: equal, contiguous ranges of the top half of the hash."""
    owner: int = shifted(shifted(h, 32) * owners, 32)
    return owner


def same_row(left: Any, i: int, right: Any, j: int, words: int) -> bool:
    """True if two states are equal, word for word."""
    for w in range(words):
        if left[i, w] != right[j, w]:
            return False
    return True


def hash_each(rows: Any, n: int, words: int, out: Any) -> int:
    """out[i] becomes the hash of rows[i]."""
    for row in range(n):
        out[row] = hash_row(rows, row, words)
    return 0


def own_each(rows: Any, n: int, words: int, owners: int, out: Any) -> int:
    """out[i] becomes the owner of rows[i]."""
    for row in range(n):
        out[row] = owner_of(hash_row(rows, row, words), owners)
    return 0


NUMBER = Number("%")
NUMBERS = ArrayValue("%", "i64")
"""Type of a number, and of an array of numbers, as an argument of compiled functions."""


def block_of(words: int) -> ArrayValue:
    """Return the type of a block of states of so many words, for compiled functions."""
    return ArrayValue("%", "i64", words)


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The functions of this module for states of so many words."""
    rows = block_of(words)
    return own_recipe(
        (hash_each, (rows, NUMBER, constant(words), NUMBERS)),
        (own_each, (rows, NUMBER, constant(words), NUMBER, NUMBERS)),
    )


@functools.cache
def _functions(words: int) -> Functions:
    return load_program(recipe_of(words))


def hashes(rows: Rows) -> NDArray[np.uint64]:
    """The hash of every row."""
    out: NDArray[np.uint64] = np.empty(len(rows), np.uint64)
    _functions(rows.shape[1])["hash_each"](address(rows), len(rows), address(out))
    return out


def owner_of_each(rows: Rows, owners: int) -> NDArray[np.int64]:
    """The owner of every row."""
    out: NDArray[np.int64] = np.empty(len(rows), np.int64)
    _functions(rows.shape[1])["own_each"](address(rows), len(rows), owners, address(out))
    return out
