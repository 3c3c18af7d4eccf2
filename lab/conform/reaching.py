"""Search for outcomes, breadth first, with a way to each; over all steps or the steerable ones.

Steps that are dear on brokers are put off: a way has as few of these as any, and then as few steps
as any. A state is searched together with who is silent in it (`checker.kafka.confirm.silence`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lab.conform.outcomes import Outcome, keys_of, outcome_of_key
from lab.conform.steerable import Steerable
from waterline.checker.compiler.origins import ACTION_SHIFT, call_of, row_of, step_of
from waterline.checker.kafka.confirm.silence import Column, Steps
from waterline.checker.kafka.confirm.stepping import SHRINKS
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Tally
from waterline.checker.storage.explore_loop import CHUNK_ROWS
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call

DEAR = (*sorted(SHRINKS), "Restart")
"""Actions that take seconds; any other takes a tenth of one."""
_ANY_NUMBER = -1
_START = -1
"""The parent of the first state."""


@dataclass(frozen=True, slots=True)
class _Met:
    """First occurrence of an outcome: a step out of the state of this number."""

    at: int
    step: int


@dataclass(slots=True)
class _PutOff:
    """Dear steps, whose states come after all others."""

    rows: list[Rows] = field(default_factory=list)
    parents: list[Steps] = field(default_factory=list)
    steps: list[Steps] = field(default_factory=list)
    met: dict[int, _Met] = field(default_factory=dict)


class Search:
    """A search from one state, the model's first by default; `steerable` None is for every step.

    `states` is how many were found, `complete` whether these are all, `dear` how many dear steps
    are on the ways to the last.
    """

    def __init__(
        self,
        problem: Problem,
        steerable: Steerable | None,
        *,
        start: State | None = None,
        silent: int = 0,
    ) -> None:
        self._problem = problem
        self._steerable = steerable
        self._expander = Expander(problem)
        self._words = problem.model.layout.words
        self._visited: set[bytes] = set()
        self._waiting: list[Rows] = []
        self._at = 0
        self._parents: list[Steps] = []
        self._steps: list[Steps] = []
        self._met: dict[int, _Met] = {}
        self._put_off = _PutOff()
        self._dear = [
            number for number, each in enumerate(problem.model.actions) if each.name in DEAR
        ]
        self.states = 0
        self.dear = 0
        self.complete = False
        first: Rows = np.zeros((1, self._words + 1), np.uint64)
        first[0, : self._words] = (start or problem.model.initial[0]).words
        first[0, self._words] = silent
        self._add(first, np.array([_START]), np.array([_START]))

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """Outcomes that occurred."""
        return frozenset(outcome_of_key(self._problem.model, key) for key in self._met)

    def carried_out(
        self,
        *,
        states_max: int,
        wanted: Collection[Outcome] | None = None,
        dear_max: int = _ANY_NUMBER,
    ) -> None:
        """Search on until one of the wanted outcomes is met, or all states, or about so many.

        It ends too before a dear step more than `dear_max`.
        """
        looked = 0
        while self.states <= states_max:
            if wanted is not None and len(self._met) > looked:
                looked = len(self._met)
                if not self.outcomes.isdisjoint(wanted):
                    return
            if self._at < self.states:
                rows = np.concatenate(self._waiting)
                self._waiting = [rows[CHUNK_ROWS:]]
                rows = rows[:CHUNK_ROWS]
                self._at += len(rows)
                self._expand(rows, self._at - len(rows))
            elif self.dear == dear_max:
                return
            elif not self._dear_ones():
                self.complete = True
                return

    def ways(self, wanted: Collection[Outcome] | None = None) -> dict[Outcome, tuple[Call, ...]]:
        """A way to each outcome that was met, or to those wanted; its own step is the last."""
        model = self._problem.model
        parents, steps = np.concatenate(self._parents), np.concatenate(self._steps)
        found = {}
        for key, met in self._met.items():
            outcome = outcome_of_key(model, key)
            if wanted is not None and outcome not in wanted:
                continue
            calls, at = [call_of(model, met.step)], met.at
            while parents[at] != _START:
                calls.append(call_of(model, int(steps[at])))
                at = int(parents[at])
            found[outcome] = tuple(reversed(calls))
        return found

    def _expand(self, rows: Rows, first: int) -> None:
        """Take every step out of these states; `first` is the number of the first."""
        before = np.ascontiguousarray(rows[:, : self._words])
        for written in self._expander.expand(before, Tally(self._problem)):
            origin = self._expander.origin[:written].copy()
            self._took(rows, row_of(origin), step_of(origin), self._expander.out[:written], first)

    def _took(
        self, rows: Rows, source: NDArray[np.int64], steps: Steps, after: Rows, first: int
    ) -> None:
        before, silent = rows[source, : self._words], rows[source, self._words]
        if self._steerable is not None:
            kept = np.flatnonzero(self._steerable.can_be_had(before, after, silent, steps))
            before, silent, steps, after = before[kept], silent[kept], steps[kept], after[kept]
            source = source[kept]
            silent = self._steerable.silence(before, after, silent, steps)
        keys = keys_of(self._problem.model, before, after, steps)
        found = np.concatenate([after, silent[:, None]], axis=1)
        parents = source + first
        is_dear = np.isin(steps >> ACTION_SHIFT, self._dear)
        now, later = np.flatnonzero(~is_dear), np.flatnonzero(is_dear)
        _note(self._met, keys[now], parents[now], steps[now])
        self._add(found[now], parents[now], steps[now])
        if len(later):
            _note(self._put_off.met, keys[later], parents[later], steps[later])
            self._put_off.rows.append(found[later])
            self._put_off.parents.append(parents[later])
            self._put_off.steps.append(steps[later])

    def _dear_ones(self) -> bool:
        """Go on with the steps that were put off; whether there were any."""
        put_off, self._put_off = self._put_off, _PutOff()
        self.dear += 1
        for key, met in put_off.met.items():
            self._met.setdefault(key, met)
        for rows, parents, steps in zip(put_off.rows, put_off.parents, put_off.steps, strict=True):
            self._add(rows, parents, steps)
        return bool(put_off.rows)

    def _add(self, rows: Rows, parents: Steps, steps: Steps) -> None:
        """Add new states with their first predecessor."""
        if not len(rows):
            return
        packed, size = rows.tobytes(), rows.shape[1] * rows.itemsize
        new = []
        for number in range(len(rows)):
            key = packed[number * size : (number + 1) * size]
            if key not in self._visited:
                self._visited.add(key)
                new.append(number)
        self._parents.append(parents[new])
        self._steps.append(steps[new])
        self._waiting.append(rows[new])
        self.states += len(new)


def _note(met: dict[int, _Met], keys: Column, parents: Steps, steps: Steps) -> None:
    """Keep where each outcome was met first."""
    for key, at in zip(*np.unique(keys, return_index=True), strict=True):
        if int(key) not in met:
            met[int(key)] = _Met(int(parents[at]), int(steps[at]))
