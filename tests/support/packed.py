"""Packed states for tests of the store: drawn, listed, hashed in plain Python, made to collide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Rows = NDArray[np.uint64]
_WHOLE = (1 << 64) - 1
_START = 0x9E3779B97F4A7C15
_FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_INVERSES = tuple(pow(factor, -1, 1 << 64) for factor in _FACTORS)


def blocks_of(widths: Sequence[int]) -> st.SearchStrategy[list[Rows]]:
    """Blocks of states whose words have so many bits; small numbers are frequent."""
    words = [
        st.one_of(st.integers(0, min(40, (1 << width) - 1)), st.integers(0, (1 << width) - 1))
        for width in widths
    ]
    block = st.lists(st.tuples(*words), max_size=120).map(
        lambda rows: np.array(rows, np.uint64).reshape(-1, len(widths))
    )
    return st.lists(block, min_size=1, max_size=6)


def random_rows(widths: Sequence[int], count: int, seed: int = 1) -> Rows:
    """States whose words have so many bits."""
    draw = np.random.default_rng(seed)
    columns = [
        draw.integers(0, (1 << width) - 1, count, np.uint64, endpoint=True) for width in widths
    ]
    return np.stack(columns, axis=1)


def listed(rows: Rows) -> list[tuple[int, ...]]:
    """States as tuples."""
    return [tuple(map(int, row)) for row in rows]


def hashed(row: tuple[int, ...]) -> int:
    """The hash of a state; files of kept runs are in its order."""
    h = _START
    for word in row:
        h = (h ^ word) * _FACTORS[0] & _WHOLE
        h ^= h >> 32
        h = h * _FACTORS[1] & _WHOLE
        h ^= h >> 29
    return h


def state_with(h: int, others: Sequence[int]) -> tuple[int, ...]:
    """The state that has this hash and these words after the first."""
    for word in [*reversed(others), _START]:
        low = h
        for _ in range(3):  # each turn makes 29 bits more of it right
            low = h ^ low >> 29
        h = low * _INVERSES[1] & _WHOLE
        h ^= h >> 32
        h = h * _INVERSES[0] & _WHOLE ^ word
    return h, *others
