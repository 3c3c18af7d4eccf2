"""Bits of one field in packed states, where fields share bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.model.core.layout import WORD_BITS, Layout, Place


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a field, and the place of the number that decides whether the row means anything.

    `places` are (word, mask). The row is alive if the deciding number is among `values`, which are
    packed: less the least value.
    """

    places: tuple[tuple[int, int], ...]
    word: int
    shift: int
    ones: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FieldBits:
    """A field: all its bits, word by word; and its rows, if they are not always alive."""

    name: str
    mask: tuple[int, ...]
    rows: tuple[_Row, ...]

    def of(self, rows: Rows) -> Rows:
        """The states with everything but the field at zero; what is not alive is at zero too."""
        if not self.rows:
            return rows & np.array(self.mask, np.uint64)
        alone = np.zeros_like(rows)
        for row in self.rows:
            decides = (rows[:, row.word] >> np.uint64(row.shift)) & np.uint64(row.ones)
            alive: NDArray[np.bool_] = decides == row.values[0]
            for value in row.values[1:]:
                alive |= decides == value
            for word, mask in row.places:
                alone[:, word] |= (rows[:, word] & np.uint64(mask)) * alive
        return alone


def bits_of_fields(layout: Layout) -> Iterator[FieldBits]:
    """Each field, in the order of their declarations."""
    for declared in layout.fields:
        place = layout.places[declared.name]
        masks = [_row_mask(place, row, layout.words) for row in range((*place.shape, 1)[0])]
        whole = tuple(_join(masks, word) for word in range(layout.words))
        rows = tuple(_rows(layout, place, masks)) if place.alive is not None else ()
        yield FieldBits(declared.name, whole, rows)


def _rows(layout: Layout, place: Place, masks: list[list[int]]) -> Iterator[_Row]:
    assert place.alive is not None
    deciding = layout.places[place.alive.field]
    for number, mask in enumerate(masks):
        word, shift = divmod(deciding.bit + number * deciding.row, WORD_BITS)
        yield _Row(
            tuple((place, bits) for place, bits in enumerate(mask) if bits),
            word,
            shift,
            (1 << deciding.width) - 1,
            tuple(value - deciding.lo for value in place.alive.values),
        )


def _row_mask(place: Place, row: int, words: int) -> list[int]:
    mask = [0] * words
    for column in range((*place.shape, 1, 1)[1]):
        word, shift = divmod(place.bit + row * place.row + column * place.column, WORD_BITS)
        if place.width:
            mask[word] |= ((1 << place.width) - 1) << shift
    return mask


def _join(masks: list[list[int]], word: int) -> int:
    joined = 0
    for mask in masks:
        joined |= mask[word]
    return joined
