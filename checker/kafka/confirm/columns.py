"""Fields of many packed states at once: the bits of an element, and its value in every row."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import ACTION_SHIFT, arguments_of
from waterline.checker.problem.packed_rows import Rows
from waterline.model.core.layout import WORD_BITS, Alive, Layout, Place
from waterline.model.core.transition_system import Action, Model

Column = NDArray[np.uint64]
Steps = NDArray[np.int64]
"""Steps as numbers (`checker.compiler.origins`)."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a field, in row `row`: its bits, and when it has a meaning."""

    row: int
    word: int
    shift: int
    mask: int
    lo: int
    alive: Alive | None

    def raw(self, rows: Rows) -> Column:
        """Return the element's value in each row, counted from the field's lowest value."""
        value: Column = (rows[:, self.word] >> np.uint64(self.shift)) & np.uint64(self.mask)
        return value


@functools.cache
def elements_of(place: Place) -> tuple[Element, ...]:
    """Every element of a field, row by row."""
    rows, columns = (*place.shape, 1, 1)[:2]
    found = []
    for i, j in itertools.product(range(rows), range(columns)):
        word, shift = divmod(place.bit + i * place.row + j * place.column, WORD_BITS)
        found.append(Element(i, word, shift, (1 << place.width) - 1, place.lo, place.alive))
    return tuple(found)


def table_of(layout: Layout, name: str, rows: Rows) -> NDArray[np.int64]:
    """A field with one value for each replica: a row for each state, a column for each replica."""
    columns = [
        element.raw(rows).astype(np.int64) + element.lo
        for element in elements_of(layout.places[name])
    ]
    return np.stack(columns, axis=1)


def argument_of(model: Model, action: Action, name: str, steps: Steps) -> NDArray[np.int64]:
    """The argument of this name in steps of one action."""
    names = [parameter.name for parameter in action.parameters]
    at = names.index(name)
    sizes = [model.layout.sizes[parameter.over] for parameter in action.parameters]
    below = int(np.prod(sizes[at + 1 :], dtype=np.int64))
    digits: NDArray[np.int64] = arguments_of(steps) // below % sizes[at]
    return digits


def steps_of(model: Model, action: str, steps: Steps) -> NDArray[np.int64]:
    """Return the places of this action's steps."""
    number = next(i for i, each in enumerate(model.actions) if each.name == action)
    return np.flatnonzero(steps >> ACTION_SHIFT == number)
