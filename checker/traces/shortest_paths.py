"""Shortest path from a violating state back to an initial state, by least parents.

No parent is stored during the search. The level before is expanded again and the least state that
leads to the wanted one is its parent; of several steps between the two, the first in the table of
contents with the least arguments. All wanted states are followed in one pass over the levels. Under
a symmetry the states are representatives, and the steps are found from the first state on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from checker.compiler.origins import call_of
from checker.problem.packed_rows import Rows, StateWords, state_words
from checker.problem.problem import Problem
from checker.search.engines.engine import Engine
from checker.search.engines.expander import Expander, Tally, chunks_of
from checker.storage.arrivals import LeastArrivals
from checker.storage.runs import sort_unique
from checker.traces.concretise import real_path
from model.core.transition_system import Arguments


@dataclass(frozen=True, slots=True, order=True)
class _Arrival:
    """One way into a state; the least of them is taken."""

    parent: StateWords
    step: int


@dataclass(frozen=True, slots=True)
class Path:
    """An initial state, by its number, and the steps from there."""

    initial: int
    calls: tuple[tuple[str, Arguments], ...]


def shortest_paths(
    problem: Problem, engine: Engine, targets: Mapping[str, tuple[int, StateWords]]
) -> dict[str, Path]:
    """The least shortest path to each target, a (depth, state) that the engine has absorbed."""
    steps: dict[str, list[tuple[str, Arguments]]] = {name: [] for name in targets}
    states = {name: [words] for name, (_, words) in targets.items()}
    at = {name: words for name, (_, words) in targets.items()}
    for depth in range(max((depth for depth, _ in targets.values()), default=0), 0, -1):
        wanted = {name for name, (deepest, _) in targets.items() if deepest >= depth}
        arrivals = _least_arrivals(problem, engine, depth, {at[name] for name in wanted})
        for name in wanted:
            arrival = arrivals[at[name]]
            steps[name].append(call_of(problem.model, arrival.step))
            at[name] = arrival.parent
            states[name].append(arrival.parent)
    if problem.symmetry.sorts:
        return {name: Path(*real_path(problem, states[name][::-1])) for name in targets}
    first = [state.words for state in problem.model.initial]
    return {name: Path(first.index(at[name]), tuple(reversed(steps[name]))) for name in targets}


def _least_arrivals(
    problem: Problem, engine: Engine, depth: int, wanted: set[StateWords]
) -> dict[StateWords, _Arrival]:
    """The least way into each wanted state from the level before `depth`."""
    found: dict[StateWords, _Arrival] = {}
    for part in engine.over_level(depth - 1, _Finder(problem, tuple(sorted(wanted)))):
        for words, arrival in part.items():
            found[words] = min(found.get(words, arrival), arrival)
    return found


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the least way into each wanted state from a block; other processes may do it."""

    problem: Problem
    wanted: tuple[StateWords, ...]

    def __call__(self, block: Rows) -> dict[StateWords, _Arrival]:
        expander = Expander(self.problem)
        level = sort_unique(np.array(self.wanted, np.uint64))
        found = LeastArrivals(level)
        for rows in chunks_of(block):
            for written in expander.expand(rows, Tally(self.problem)):
                found.offer(expander.out, expander.origin, written, rows)
        ways = zip(level, found.parents, found.steps.tolist(), strict=True)
        return {
            state_words(row): _Arrival(state_words(parent), step)
            for row, parent, step in ways
            if step >= 0
        }
