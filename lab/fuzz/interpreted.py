"""An engine that runs the rules as Python, with every access checked: for small bounds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows, StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Arrivals, Expansion, ModelFault
from waterline.model.core.claim import ActionProperty, Reachable
from waterline.model.core.state import State


class Interpreted:
    """An engine for small bounds: the rules run as Python, with every access checked."""

    name = "interpreted"
    can_shed = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = model = problem.model
        self.calls = [
            (number, action, arguments)
            for number, action in enumerate(model.actions)
            if action.name in model.contents
            for arguments in model.bindings(action)
        ]
        self.depth = -1
        self.frontier: list[State] = []
        self.pending = list(model.initial)
        self.seen = set(self.pending)
        self.levels: list[list[State]] = []

    def absorb(self) -> Arrivals:
        """Make the pending states the level, and check them."""
        self.depth += 1
        self.frontier, self.pending = self.pending, []
        self.levels.append(self.frontier)
        broken: dict[int, StateWords] = {}
        faults: list[StateWords] = []
        for state, (number, claim) in itertools.product(
            self.frontier, enumerate(self.problem.invariants)
        ):
            if not self.problem.is_checked(claim):
                continue
            try:
                if not claim.holds(state, self.model.settings):
                    broken[number] = min(broken.get(number, state.words), state.words)
            except Exception:  # Whatever a claim raises is an error of the run.
                faults.append(state.words)
        if faults:
            raise ModelFault.among(set(faults))
        return Arrivals(depth=self.depth, new=len(self.frontier), broken=broken)

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Every successor of every state of the level, and every claim about steps on each."""
        fired = np.zeros(len(self.model.actions), np.int64)
        cut = np.zeros((len(self.model.actions), len(self.model.limits)), np.int64)
        happened = happened.copy()
        broken: dict[int, StateWords] = {}
        faults: set[StateWords] = set()
        for state, (number, action, arguments) in itertools.product(self.frontier, self.calls):
            try:
                if not self.model.is_enabled(state, action, arguments):
                    continue
                if bound := self.model.exceeded_limit(state, action, arguments):
                    cut[number, bound] += 1
                    continue
                after = self.model.apply(state, action, arguments)
            except Exception:  # Whatever a rule raises is an error of the run.
                faults.add(state.words)
                continue
            fired[number] += 1
            for ask in self._asked_of_steps(happened, broken):
                try:
                    ask(state, after)
                except Exception:
                    faults.add(state.words)
            if after not in self.seen:
                self.seen.add(after)
                self.pending.append(after)
        if faults:
            raise ModelFault.among(faults)
        return Expansion(fired=fired, cut=cut, happened=happened, broken=broken)

    def _asked_of_steps(
        self, happened: NDArray[np.bool_], broken: dict[int, StateWords]
    ) -> Iterator[Callable[[State, State], None]]:
        """Every claim about steps: whatever has happened or was broken, it is asked again."""
        settings = self.model.settings

        def happens(number: int, claim: Reachable, state: State, after: State) -> None:
            happened[number] |= bool(claim.happens(state, after, settings))

        def keeps(number: int, claim: ActionProperty, state: State, after: State) -> None:
            if not claim.keeps(state, after, settings):
                broken[number] = min(broken.get(number, state.words), state.words)

        for number, claim in enumerate(self.problem.reachable):
            if claim.applies(settings):
                yield partial(happens, number, claim)
        for number, kept in enumerate(self.problem.properties):
            if self.problem.is_checked(kept):
                yield partial(keeps, number, kept)

    def level(self, depth: int) -> Iterator[Rows]:
        """The states of the last level; earlier ones are not kept."""
        yield np.array([state.words for state in self.frontier], np.uint64)

    def close(self) -> None:
        """Nothing is held."""
