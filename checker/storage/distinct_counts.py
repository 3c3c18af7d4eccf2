"""Distinct values of a field: exact up to a limit, by HyperLogLog beyond.

Fields share bits, so one has its own in packed states.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.blocks import NUMBER, block_of, hash_row, same_row
from waterline.checker.storage.hyperloglog import count, count_row, empty_sketch, estimate
from waterline.model.core.layout import WORD_BITS, Layout, Place

VALUES_MAX = 1 << 14
"""Most values that are counted exactly."""
_SLOTS = 4 * VALUES_MAX


def look(
    alone: Any, rest: Any, n: int, table: Any, values: Any, held: int, without: Any, words: int
) -> int:
    """Take in n rows; returns how many values are held then, more than the limit for too many."""
    kept = held
    for row in range(n):
        count_row(without, rest, row, words)
        if kept <= VALUES_MAX:
            slot = hash_row(alone, row, words) & (_SLOTS - 1)
            while table[slot] != 0 and not same_row(values, table[slot] - 1, alone, row, words):
                slot = (slot + 1) & (_SLOTS - 1)
            if table[slot] == 0:
                if kept < VALUES_MAX:
                    for w in range(words):
                        values[kept, w] = alone[row, w]
                    table[slot] = kept + 1
                kept += 1
    return kept


@functools.cache
def recipe_of(words: int) -> Recipe:
    """Return the recipe that counts the values of states of so many words."""
    rows, numbers = block_of(words), ArrayValue("%", "i32")
    given = rows, rows, NUMBER, numbers, rows, NUMBER, numbers, constant(words)
    return own_recipe((look, given))


class Spread:
    """Distinct values of one part of the states, counted as the states are taken in."""

    def __init__(self, words: int) -> None:
        self._table: NDArray[np.int32] = np.zeros(_SLOTS, np.int32)
        self._values: Rows = np.empty((VALUES_MAX, words), np.uint64)
        self._held = 0
        self._sketch: NDArray[np.int32] | None = None
        self._without = empty_sketch()

    def take(self, alone: Rows, rest: Rows) -> None:
        """Take in states, each as this part alone and as all others."""
        self._held = load_program(recipe_of(alone.shape[1]))["look"](
            address(alone),
            address(rest),
            len(alone),
            address(self._table),
            address(self._values),
            self._held,
            address(self._without),
        )
        if self._held > VALUES_MAX:
            if self._sketch is None:
                self._sketch = empty_sketch()
                count(self._sketch, self._values)
            count(self._sketch, alone)

    def add(self, other: SpreadSeen) -> None:
        """Take in what was seen elsewhere."""
        np.maximum(self._without, other.without, out=self._without)
        if other.sketch is None:
            without, self._without = self._without, empty_sketch()
            self.take(other.values, other.values)
            self._without = without
            return
        mine = self.snapshot()
        self._sketch = mine.sketch if mine.sketch is not None else empty_sketch()
        if mine.sketch is None:
            count(self._sketch, mine.values)
        self._held = VALUES_MAX + 1
        np.maximum(self._sketch, other.sketch, out=self._sketch)

    def snapshot(self) -> SpreadSeen:
        """Return a copy of the counts, to be sent to another process."""
        values = self._values[: min(self._held, VALUES_MAX)].copy()
        return SpreadSeen(values, self._sketch, self._without)

    @property
    def is_exact(self) -> bool:
        """True if the values were counted one by one."""
        return self._sketch is None

    @property
    def values(self) -> int:
        """How many values there are, or about how many."""
        return self._held if self._sketch is None else round(estimate(self._sketch))

    @property
    def without(self) -> int:
        """About how many states there are without this part."""
        return round(estimate(self._without))


class SpreadSeen:
    """A part's values, or their sketch where they are too many, and the sketch without them."""

    def __init__(
        self,
        values: Rows,
        sketch: NDArray[np.int32] | None,
        without: NDArray[np.int32],
    ) -> None:
        self.values, self.sketch, self.without = values, sketch, without


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
