"""Decoding of packed states to Arrow columns.

A number becomes an integer column, a row of numbers a list, a table a list of lists, each of the
smallest signed type that holds the declared range. A row that is not alive is null. The words
themselves become one binary column, most significant byte first: equal states have equal bytes, and
bytes compare as states do. Only the declarations of a layout are used; nothing is looped per state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.model.core.layout import WORD_BITS, Layout, Place

_KINDS = (np.int8, np.int16, np.int32, np.int64)


def key_type(layout: Layout) -> Any:
    """The type of a column that identifies states."""
    return pa.binary(layout.words * WORD_BITS // 8)


def keys(rows: Rows) -> Any:
    """The words of each state as one value."""
    data = np.ascontiguousarray(rows.astype(">u8"))
    kind = pa.binary(rows.shape[1] * WORD_BITS // 8)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(data)])


def field_columns(layout: Layout) -> list[Any]:
    """The columns that fields become, in the order they are declared."""
    columns = []
    for declared in layout.fields:
        place = layout.places[declared.name]
        kind = pa.from_numpy_dtype(_kind_of(place))
        for _ in place.shape:
            kind = pa.list_(kind)
        columns.append(pa.field(place.name, kind))
    return columns


def decode(layout: Layout, rows: Rows) -> list[Any]:
    """Return the columns of a block of states, in the order of `field_columns`."""
    words = [np.ascontiguousarray(rows[:, word]) for word in range(layout.words)]
    return [_column(layout, layout.places[declared.name], words) for declared in layout.fields]


def _kind_of(place: Place) -> type[np.signedinteger[Any]]:
    for kind in _KINDS:
        if np.iinfo(kind).min <= place.lo and place.hi <= np.iinfo(kind).max:
            return kind
    raise ValueError(f"field {place.name}: {place.lo}..{place.hi} fits no column of integers")


def _values(place: Place, words: list[NDArray[np.uint64]]) -> NDArray[Any]:
    """Every element: an array of states by the field's shape."""
    kind = _kind_of(place)
    out = np.empty((len(words[0]), *place.shape), kind)
    mask = np.uint64((1 << place.width) - 1)
    for index in np.ndindex(place.shape):
        bit = place.bit
        bit += sum(at * step for at, step in zip(index, (place.row, place.column), strict=False))
        word, shift = divmod(bit, WORD_BITS)
        # Taken modulo the type's size, as is the sum below: what comes out is within the range.
        out[:, *index] = (words[word] >> np.uint64(shift)) & mask
    with np.errstate(over="ignore"):
        out += kind(place.lo)
    return out


def _column(layout: Layout, place: Place, words: list[NDArray[np.uint64]]) -> Any:
    values = _values(place, words)
    if not place.shape:
        return pa.array(values)
    alive = None
    if place.alive is not None:
        decides = _values(layout.places[place.alive.field], words)
        alive = np.isin(decides, place.alive.values).ravel()
    states, extent = values.shape[:2]
    if len(place.shape) == 1:
        inner = pa.array(values.ravel(), mask=None if alive is None else ~alive)
    else:
        inner = _lists(values.reshape(states * extent, -1), alive)
    return pa.ListArray.from_arrays(_even_offsets(states, extent), inner)


def _lists(rows: NDArray[Any], alive: NDArray[np.bool_] | None) -> Any:
    """A list for each row, null where it is not alive."""
    if alive is None:
        return pa.ListArray.from_arrays(_even_offsets(*rows.shape), pa.array(rows.ravel()))
    # Parquet wants the nulls empty.
    ends = np.concatenate([[0], np.cumsum(alive)]) * rows.shape[1]
    return pa.ListArray.from_arrays(
        pa.array(ends.astype(np.int32)), pa.array(rows[alive].ravel()), mask=pa.array(~alive)
    )


def _even_offsets(lists: int, extent: int) -> Any:
    return pa.array(np.arange(lists + 1, dtype=np.int32) * np.int32(extent))
