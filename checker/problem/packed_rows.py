"""Packed states: blocks of rows, and pointers to them for compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rows: TypeAlias = "NDArray[np.uint64]"
"""A block of states, one a row: a C-contiguous (n, words) array."""
StateWords: TypeAlias = tuple[int, ...]
"""A single state as a plain value: its packed words. States are compared and ordered by them."""


def state_words(row: NDArray[np.uint64]) -> StateWords:
    """A row of a block as the plain value that identifies a state."""
    return tuple(int(word) for word in row)


def address(array: NDArray[Any]) -> int:
    """Where an array is; its elements follow each other."""
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} has gaps: give np.ascontiguousarray")
    place: int = array.__array_interface__["data"][0]
    return place
