"""Outcomes of a step in a few words: an action and the fields that it moves.

`RecvFetch: fetch=idle leo+ hw+` is one. Walks on real brokers are measured by how many of the
outcomes that the model can reach they have compared.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import action_of
from waterline.checker.kafka.confirm.silence import Column, Element, Steps, elements_of
from waterline.checker.problem.packed_rows import Rows
from waterline.model.core.layout import Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import (
    ANSWERED,
    CHECKED,
    DIVERGING,
    FETCHING,
    IDLE,
    LEADER,
    NO_ROLE,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
)

Outcome = tuple[str, tuple[str, ...]]
"""An action, and what it moves."""

BY_VALUE = ("role", "fetch")
"""Fields whose new value is part of an outcome."""
_WORDS = {
    "role": {NO_ROLE: "none", LEADER: "leader", TRUNCATING: "truncating", FETCHING: "fetching"},
    "fetch": {
        IDLE: "idle",
        REQUESTED: "requested",
        ANSWERED: "answered",
        OUT_OF_RANGE: "out-of-range",
        PARKED: "parked",
        CHECKED: "checked",
        DIVERGING: "diverging",
    },
}
BY_DIRECTION = (
    "leader",
    "epoch",
    "isr",
    "up",
    "known_epoch",
    "leo",
    "hw",
    "checkpoint",
    "known_isr",
    "unanswered",
    "remote_leo",
    "answer_offset",
    "answer_log",
    "cached_epoch",
    "stray_from",
    "acked",
    "assigned",
    "adding",
    "removing",
)
"""Fields for which an outcome says whether an element grows (+) or shrinks (-). Sets count as the
numbers that encode them."""

_ACTION_BIT = 52
"""First bit of the action's number in a key; below it is a bit for each move."""


def describe(outcome: Outcome) -> str:
    """`RecvFetch: fetch=idle leo+ hw+`"""
    action, moved = outcome
    return f"{action}: {' '.join(moved) or 'nothing'}"


def outcome_named(text: str) -> Outcome:
    """The outcome that `describe` wrote so. Raises `ValueError`."""
    action, found, moved = text.partition(": ")
    if not found:
        raise ValueError(f"{text!r} names no outcome")
    return action, () if moved == "nothing" else tuple(moved.split())


def outcome_of(model: Model, action: str, before: State, after: State) -> Outcome:
    """Return the outcome of a step."""
    rows = [np.array([state.words], np.uint64) for state in (before, after)]
    [moved] = _moves(model.layout, *rows)
    return action, _names(int(moved), model.layout)


def keys_of(model: Model, before: Rows, after: Rows, steps: Steps) -> Column:
    """The outcome of each of many steps, as a number: see `outcome_of_key`."""
    action = action_of(steps).astype(np.uint64) << np.uint64(_ACTION_BIT)
    keys: Column = _moves(model.layout, before, after) | action
    return keys


def outcome_of_key(model: Model, key: int) -> Outcome:
    """The outcome that a number of `keys_of` stands for."""
    moved = key & ((1 << _ACTION_BIT) - 1)
    return model.actions[key >> _ACTION_BIT].name, _names(moved, model.layout)


def _moves(layout: Layout, before: Rows, after: Rows) -> Column:
    """A bit for each move that a step makes, for many steps at once."""
    moved: Column = np.zeros(len(before), np.uint64)
    changed = [before[:, word] ^ after[:, word] for word in range(layout.words)]
    for first, name in _first_bits(layout):
        for element in elements_of(layout.places[name]):
            bits = np.uint64(element.mask << element.shift)
            # Most steps leave most elements as they are: the rest is looked at for the others.
            steps = np.flatnonzero(changed[element.word] & bits)
            if element.alive is not None and len(steps):
                steps = steps[_means(layout, element, before[steps])]
                steps = steps[_means(layout, element, after[steps])]
            if len(steps):
                was, is_now = (element.raw(rows[steps]) for rows in (before, after))
                kind = is_now if name in BY_VALUE else (is_now < was).astype(np.uint64)
                moved[steps] |= np.uint64(1) << (kind + np.uint64(first))
    return moved


def _means(layout: Layout, element: Element, rows: Rows) -> NDArray[np.bool_]:
    """Return a mask of the rows where the element has a meaning; another field decides that."""
    alive = element.alive
    assert alive is not None
    decides = elements_of(layout.places[alive.field])[element.row]
    found: NDArray[np.bool_] = np.isin(
        decides.raw(rows), [np.uint64(value - decides.lo) for value in alive.values]
    )
    return found


@functools.cache
def _first_bits(layout: Layout) -> tuple[tuple[int, str], ...]:
    """Return the first bit of each field's moves."""
    widths = [layout.places[n].hi - layout.places[n].lo + 1 for n in BY_VALUE]
    widths += [2] * len(BY_DIRECTION)
    starts = itertools.accumulate(widths, initial=0)
    return tuple(zip(starts, (*BY_VALUE, *BY_DIRECTION), strict=False))


@functools.cache
def _known_moves(layout: Layout) -> tuple[str, ...]:
    """Return the name of the move behind each bit."""
    by_value = [
        f"{name}={_WORDS[name][value]}"
        for name in BY_VALUE
        for value in range(layout.places[name].lo, layout.places[name].hi + 1)
    ]
    return (*by_value, *(f"{name}{sign}" for name in BY_DIRECTION for sign in "+-"))


def _names(moved: int, layout: Layout) -> tuple[str, ...]:
    return tuple(each for i, each in enumerate(_known_moves(layout)) if moved >> i & 1)
