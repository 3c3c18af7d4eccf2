"""Successors of a state with what a search asks of each: interpreted at first, compiled later.

To compile the rules takes seconds, as long as to interpret about two thousand states: a search that
is over before that should not wait for it. Both give the same successors in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.kernel import is_compiled
from waterline.checker.compiler.loops import FINISHED
from waterline.checker.compiler.origins import ACTION_SHIFT, call_of, step_of
from waterline.checker.compiler.predicate_loop import Questions, questions_of
from waterline.checker.compiler.program import is_at_hand, loaded_quickly
from waterline.checker.problem.packed_rows import Rows, StateWords, address
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Tally
from waterline.invariants.acknowledged_durable import holds
from waterline.invariants.kept_records import lacking
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call, Model
from waterline.model.message.terms import contains, with_member

INTERPRETED_STATES = 2000
"""Number of interpreted states of a search if no compiled rules are on disk."""


class Successor(NamedTuple):
    """A step, as a number (`checker.compiler.origins`), and the state that it leads to.

    `loses`: its leader lacks an acknowledged record. `endangers`: a member of its ISR does.
    """

    step: int
    words: StateWords
    loses: bool
    endangers: bool


def is_lossless(s: Any, c: Any) -> bool:
    """True if the leader has every acknowledged record."""
    return holds(s, c)


def is_endangered(s: Any, c: Any) -> bool:
    """True if a member of the ISR lacks a record that is acknowledged."""
    if s.acked != 0:
        for r in range(s.replicas):
            if contains(s.isr, r) and lacking(s, with_member(0, r)) != 0:
                return True
    return False


class Interpreted:
    """Successors by the rules as Python runs them: the meaning of the model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        numbers = {action.name: number for number, action in enumerate(model.actions)}
        self._moves = [
            (action, arguments, numbers[action.name] << ACTION_SHIFT | packed)
            for action in model.enabled_actions
            for packed, arguments in enumerate(model.bindings(action))
        ]

    def of(self, words: StateWords) -> Iterator[Successor]:
        """Every successor within the bounds. Raises `OutOfRange` where a rule does."""
        model, state = self._model, State(self._model.layout, words)
        for action, arguments, step in self._moves:
            if not model.is_enabled(state, action, arguments):
                continue
            if model.exceeded_limit(state, action, arguments):
                continue
            after = model.apply(state, action, arguments)
            loses = not is_lossless(after, model.settings)
            yield Successor(step, after.words, loses, is_endangered(after, model.settings))


class Compiled:
    """Successors by machine code, a state at a time, with buffers made once.

    Unoptimised code will do: most searches end before optimising would have paid off.
    """

    def __init__(self, problem: Problem) -> None:
        expander = Expander(problem, chunk_rows=1)
        asked = _questions(problem)
        self._interpreted = Interpreted(problem.model)
        self._row: Rows = np.zeros((1, problem.model.layout.words), np.uint64)
        self._out, self._origin = expander.out, expander.origin
        self._answers = np.zeros((len(self._out), asked.columns), np.bool_)
        self._end: NDArray[np.int64] = np.zeros(2, np.int64)
        self._expand = partial(expander.kernel.expand, *self._given_to_expand(expander))
        settings = address(self._settings)
        self._answer = partial(
            loaded_quickly(asked.recipe)["answer"], settings, address(self._out), 0
        )
        self._into = address(self._answers)

    def _given_to_expand(self, expander: Expander) -> tuple[int, ...]:
        """Return the expander's arguments, which stay the same. Its counts are not read."""
        problem = expander.problem
        self._settings: NDArray[np.int64] = np.array(problem.model.settings, np.int64)
        self._tally, self._dead = Tally(problem), np.zeros(1, np.bool_)
        tally = self._tally
        return (
            address(self._settings),
            expander.actions,
            expander.properties,
            address(self._row),
            *(0, 1),
            address(self._out),
            len(self._out),
            address(self._origin),
            *(address(each) for each in (tally.fired, tally.cut, tally.happened, self._dead)),
            address(tally.breaches.broken),
            address(tally.breaches.least),
            address(self._end),
        )

    def of(self, words: StateWords) -> Iterable[Successor]:
        """Every successor within the bounds. Raises `OutOfRange` where a rule does."""
        self._row[0] = words
        ended = self._expand()
        written = int(self._end[1])
        self._answers[:written] = False
        if ended != FINISHED or self._answer(written, self._into) >= 0:
            return self._interpreted.of(words)  # It raises, and says what.
        return [
            Successor(step, tuple(row), not lossless, endangered)
            for step, row, (lossless, endangered) in zip(
                step_of(self._origin[:written]).tolist(),
                self._out[:written].tolist(),
                self._answers[:written].tolist(),
                strict=True,
            )
        ]


class Successors:
    """Successors for one search, and the names of their steps."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._problem = Problem(model, ())
        self._calls: dict[int, Call] = {}
        self._compiled = Compiled(self._problem) if _is_at_hand(self._problem) else None
        self._interpreted = Interpreted(model)
        self._made = 0

    def of(self, words: StateWords) -> Iterable[Successor]:
        """Every successor within the bounds. Raises `OutOfRange` where a rule does."""
        self._made += 1
        if self._compiled is None:
            if self._made <= INTERPRETED_STATES:
                return self._interpreted.of(words)
            self._compiled = Compiled(self._problem)
        return self._compiled.of(words)

    @property
    def is_compiled(self) -> bool:
        """True if the rules run as machine code by now."""
        return self._compiled is not None

    def call_of(self, step: int) -> Call:
        """The action and the arguments of a step."""
        call = self._calls.get(step)
        if call is None:
            call = self._calls[step] = call_of(self._model, step)
        return call


def _questions(problem: Problem) -> Questions:
    return questions_of(problem, (is_lossless, is_endangered), ())


def _is_at_hand(problem: Problem) -> bool:
    return is_compiled(problem) and is_at_hand(_questions(problem).recipe)
