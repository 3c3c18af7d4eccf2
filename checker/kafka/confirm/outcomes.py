"""Outcomes of a step in a few words, and all outcomes that are reachable.

An outcome is an action and the fields that it moves: `RecvFetch: fetch=idle leo+ hw+`. Walks on
real brokers are measured by how many of the outcomes that the model can reach they have compared.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.compiler.origins import action_of, call_of, row_of, step_of
from checker.problem.packed_rows import Rows, StateWords, state_words
from checker.problem.problem import Problem
from checker.search.engines.expander import Expander, Tally, chunks_of
from checker.search.engines.memory import MemoryEngine
from checker.search.engines.prepare import prepare
from checker.traces.fewest_actors import paths_to_breaking
from checker.traces.violating_states import Breaking
from model.core.layout import WORD_BITS, Alive, Layout, Place
from model.core.state import State
from model.core.transition_system import Arguments, Model
from model.message.terms import (
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
"""Fields of which it is said what they become."""
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
)
"""Fields of which it is said whether an element grows (+) or shrinks (-). A set that changes does
either as the number it is written as."""

_THREADS = 2
_ACTION_BIT = 48
"""Where the number of the action begins in a key; below it is a bit for each move."""

Call = tuple[str, Arguments]
Column = NDArray[np.uint64]


def describe(outcome: Outcome) -> str:
    """`RecvFetch: fetch=idle leo+ hw+`"""
    action, moved = outcome
    return f"{action}: {' '.join(moved) or 'nothing'}"


def outcome_of(model: Model, action: str, before: State, after: State) -> Outcome:
    """What a step comes to."""
    rows = [np.array([state.words], np.uint64) for state in (before, after)]
    [moved] = _moves(model.layout, *rows)
    return action, _names(int(moved), model.layout)


@dataclass(frozen=True, slots=True)
class _Met:
    """Where an outcome was first met: a step out of a state of level `depth`."""

    depth: int
    state: StateWords
    call: Call


class Reachable:
    """The outcomes that a problem's model can come to, found by going through its states.

    `complete` is whether that was every state, `states` how many there were. A context manager:
    states are in memory until it is left.
    """

    def __init__(
        self, problem: Problem, *, states_max: int, announce: Callable[[str], None]
    ) -> None:
        self._problem = problem
        self._met: dict[Outcome, _Met] = {}
        self.states = 0
        prepare(problem, threads=_THREADS, announce=announce)
        self._engine = MemoryEngine(problem, threads=_THREADS)
        try:
            self.complete = self._explored(states_max)
        except BaseException:
            self._engine.close()
            raise

    def __enter__(self) -> Reachable:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """All of them."""
        return frozenset(self._met)

    def paths(self, wanted: Iterable[Outcome]) -> dict[Outcome, tuple[Call, ...]]:
        """A shortest way to each of these outcomes, the step that comes to it included."""
        by_name = {describe(outcome): outcome for outcome in wanted}
        targets = {
            name: Breaking(self._met[outcome].depth, (self._met[outcome].state,), 1, None)
            for name, outcome in by_name.items()
        }
        found = paths_to_breaking(self._problem, self._engine, targets)
        return {
            outcome: (*found[name].calls, self._met[outcome].call)
            for name, outcome in by_name.items()
        }

    def _explored(self, states_max: int) -> bool:
        """Level by level; whether all was gone through."""
        happened = np.zeros(len(self._problem.reachable), np.bool_)
        while (arrivals := self._engine.absorb()).new:
            self.states += arrivals.new
            if self.states > states_max:
                return False
            depth = arrivals.depth
            for part in self._engine.over_level(depth, self._looked):
                for key, (state, call) in part.items():
                    self._met.setdefault(self._outcome(key), _Met(depth, state, call))
            self._engine.expand(happened)
        return True

    def _outcome(self, key: int) -> Outcome:
        model = self._problem.model
        moved = key & ((1 << _ACTION_BIT) - 1)
        return model.actions[key >> _ACTION_BIT].name, _names(moved, model.layout)

    def _looked(self, rows: Rows) -> dict[int, tuple[StateWords, Call]]:
        """What the steps out of some states come to: a key for each outcome, and a step with it."""
        expander = Expander(self._problem)
        found: dict[int, tuple[StateWords, Call]] = {}
        for piece in chunks_of(rows):
            for written in expander.expand(piece, Tally(self._problem)):
                origin = expander.origin[:written]
                rows_before, steps = row_of(origin), step_of(origin)
                moved = _moves(expander.layout, piece[rows_before], expander.out[:written])
                keys = moved | (action_of(steps).astype(np.uint64) << np.uint64(_ACTION_BIT))
                for key in map(int, np.unique(keys)):
                    if key not in found:
                        at = int(np.argmax(keys == np.uint64(key)))
                        found[key] = (
                            state_words(piece[rows_before[at]]),
                            call_of(self._problem.model, int(steps[at])),
                        )
        return found


def _moves(layout: Layout, before: Rows, after: Rows) -> Column:
    """A bit for each move that a step makes, for many steps at once."""
    moved: Column = np.zeros(len(before), np.uint64)
    changed = [before[:, word] ^ after[:, word] for word in range(layout.words)]
    for first, name in _first_bits(layout):
        for element in _elements(layout.places[name]):
            bits = np.uint64(element.mask << element.shift)
            # Most steps leave most elements as they are: the rest is looked at for the others.
            steps = np.flatnonzero(changed[element.word] & bits)
            if element.alive is not None and len(steps):
                steps = steps[_means(layout, element, before[steps])]
                steps = steps[_means(layout, element, after[steps])]
            if len(steps):
                was, is_now = (_value(element, rows[steps]) for rows in (before, after))
                kind = is_now if name in BY_VALUE else (is_now < was).astype(np.uint64)
                moved[steps] |= np.uint64(1) << (kind + np.uint64(first))
    return moved


def _means(layout: Layout, element: _Element, rows: Rows) -> NDArray[np.bool_]:
    """Where the element means something. What becomes of it with a role is told by the role."""
    alive = element.alive
    assert alive is not None
    decides = _elements(layout.places[alive.field])[element.row]
    found: NDArray[np.bool_] = np.isin(
        _value(decides, rows), [np.uint64(value - decides.lo) for value in alive.values]
    )
    return found


@functools.cache
def _first_bits(layout: Layout) -> tuple[tuple[int, str], ...]:
    """Where the bits of each field's moves begin."""
    widths = [layout.places[n].hi - layout.places[n].lo + 1 for n in BY_VALUE]
    widths += [2] * len(BY_DIRECTION)
    starts = itertools.accumulate(widths, initial=0)
    return tuple(zip(starts, (*BY_VALUE, *BY_DIRECTION), strict=False))


@functools.cache
def _known_moves(layout: Layout) -> tuple[str, ...]:
    """What each bit says."""
    by_value = [
        f"{name}={_WORDS[name][value]}"
        for name in BY_VALUE
        for value in range(layout.places[name].lo, layout.places[name].hi + 1)
    ]
    return (*by_value, *(f"{name}{sign}" for name in BY_DIRECTION for sign in "+-"))


def _names(moved: int, layout: Layout) -> tuple[str, ...]:
    return tuple(each for i, each in enumerate(_known_moves(layout)) if moved >> i & 1)


@dataclass(frozen=True, slots=True)
class _Element:
    """One element of a field, in row `row`: the bits that it has, and when it means anything."""

    row: int
    word: int
    shift: int
    mask: int
    lo: int
    alive: Alive | None


@functools.cache
def _elements(place: Place) -> tuple[_Element, ...]:
    rows, columns = (*place.shape, 1, 1)[:2]
    found = []
    for i, j in itertools.product(range(rows), range(columns)):
        word, shift = divmod(place.bit + i * place.row + j * place.column, WORD_BITS)
        found.append(_Element(i, word, shift, (1 << place.width) - 1, place.lo, place.alive))
    return tuple(found)


def _value(element: _Element, rows: Rows) -> Column:
    value: Column = (rows[:, element.word] >> np.uint64(element.shift)) & np.uint64(element.mask)
    return value
