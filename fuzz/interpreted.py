"""An engine that runs the rules as Python, with every access checked: for small bounds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from checker.problem.packed_rows import Rows, StateWords
from checker.problem.problem import Problem
from checker.search.engines.answers import Arrivals, Expansion
from model.core.state import State


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

    def absorb(self) -> Arrivals:
        """Make the pending states the level, and check them."""
        self.depth += 1
        self.frontier, self.pending = self.pending, []
        broken = {}
        for number, claim in enumerate(self.problem.invariants):
            if self.problem.is_checked(claim):
                bad = [s.words for s in self.frontier if not claim.holds(s, self.model.settings)]
                if bad:
                    broken[number] = min(bad)
        return Arrivals(depth=self.depth, new=len(self.frontier), broken=broken)

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Every successor of every state of the level."""
        fired = np.zeros(len(self.model.actions), np.int64)
        cut = np.zeros((len(self.model.actions), len(self.model.limits)), np.int64)
        happened = happened.copy()
        broken: dict[int, StateWords] = {}
        for state, (number, action, arguments) in itertools.product(self.frontier, self.calls):
            if self.model.is_enabled(state, action, arguments):
                if bound := self.model.exceeded(state, action, arguments):
                    cut[number, bound] += 1
                    continue
                fired[number] += 1
                after = self.model.apply(state, action, arguments)
                for claim in np.flatnonzero(~happened):
                    happens = self.problem.reachable[claim].happens
                    happened[claim] = happens(state, after, self.model.settings)
                for claim, kept in enumerate(self.problem.properties):
                    if self.problem.is_checked(kept) and not kept.keeps(
                        state, after, self.model.settings
                    ):
                        broken[claim] = min(broken.get(claim, state.words), state.words)
                if after not in self.seen:
                    self.seen.add(after)
                    self.pending.append(after)
        return Expansion(fired=fired, cut=cut, happened=happened, broken=broken)

    def level(self, depth: int) -> Iterator[Rows]:
        """The states of the last level; earlier ones are not kept."""
        yield np.array([state.words for state in self.frontier], np.uint64)

    def close(self) -> None:
        """Nothing is held."""
