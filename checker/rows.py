"""Blocks of packed states, and how compiled code is told where an array is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rows: TypeAlias = "NDArray[np.uint64]"
"""A block of states, one a row: a C-contiguous (n, words) array."""


def address(array: NDArray[Any]) -> int:
    """Where an array is; its elements follow each other."""
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} has gaps: give np.ascontiguousarray")
    place: int = array.__array_interface__["data"][0]
    return place
