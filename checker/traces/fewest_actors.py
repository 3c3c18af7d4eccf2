"""Shortest traces with the fewest actors, as concrete steps.

A search under a symmetry knows of each state only what represents it. Its path is turned forwards
into a real one: from a real state some step leads to a state that the next representative stands
for, because what one name can do every other can. The first such step is taken, in the order of the
table of contents, then of the arguments, so that the same path always comes out the same.

All ways to a state took as many faults where the state counts them (`checker.search.account`).
Without bounds it does not: then they are counted along the ways. Of the paths with the fewest
faults it is one with the fewest actors, which are the first arguments of its steps; then one to the
least state; then, from there back, by way of the least parent, and of several steps between two
states the first in the table of contents with the least arguments. So which one it is does not
depend on the engine. Of a property it is the way to the state before the step that breaks it.

Under a symmetry the states are representatives, whose names change from state to state: actors are
not counted then, and the steps are found from the first state on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from waterline.checker.compiler.kernel import canonicalise
from waterline.checker.compiler.origins import call_of
from waterline.checker.problem.packed_rows import StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine
from waterline.checker.traces.violating_states import Breaking, Path, Ways, ways_into
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments, Step


class NotSymmetric(Exception):
    """No real step leads where its representative does: the names that were exchanged do count."""


def representative(problem: Problem, state: State) -> StateWords:
    """The words of the state that is explored instead of this one."""
    rows = np.array([state.words], np.uint64)
    canonicalise(problem, rows)
    return state_words(rows[0])


def real_path(
    problem: Problem, representatives: Sequence[StateWords]
) -> tuple[int, tuple[tuple[str, Arguments], ...]]:
    """The number of an initial state, and the steps from there, that these states represent."""
    initial = [representative(problem, state) for state in problem.model.initial]
    number = initial.index(representatives[0])
    state, calls = problem.model.initial[number], []
    for wanted in representatives[1:]:
        step = _step_to(problem, state, wanted)
        calls.append((step.action.name, step.arguments))
        state = step.after
    return number, tuple(calls)


def _step_to(problem: Problem, state: State, wanted: StateWords) -> Step:
    for step in problem.model.successors(state):
        if representative(problem, step.after) == wanted:
            return step
    raise NotSymmetric(f"no step out of {state} leads to a state that {wanted} represents")


STATES_MAX = 2_000
"""How many states of a level are followed back for one claim: the least ones, of more."""

Actors = frozenset[tuple[str, int]]
"""First arguments of some steps: their ranges and values."""
_NOBODY: Actors = frozenset()
_Groups = list[dict[StateWords, set[Actors]]]
"""For every level and state the actors of the ways there."""


def paths_to_breaking(
    problem: Problem, engine: Engine, breaking: Mapping[str, Breaking]
) -> dict[str, Path]:
    """The path for each violated claim; `engine` has absorbed the states that break it.

    All claims are followed back in one pass over the levels.
    """
    first = [state.words for state in problem.model.initial]
    actors = _actors_of(problem)
    paths = {}
    for name, levels in followed_back(problem, engine, breaking).items():
        ends: Sequence[StateWords] = breaking[name].ends
        ways = levels
        if problem.model.concretise is not None:
            ways, ends = _with_fewest_faults(levels, ends, _is_fault(problem))
        states, steps = _choose_way(ways, ends, actors)
        if problem.symmetry.sorts:
            paths[name] = Path(*real_path(problem, states))
        else:
            calls = tuple(call_of(problem.model, step) for step in steps)
            paths[name] = Path(first.index(states[0]), calls)
    return paths


def followed_back(
    problem: Problem, engine: Engine, breaking: Mapping[str, Breaking]
) -> dict[str, list[Ways]]:
    """For each claim the ways into the states of each level, from that of depth 1 on."""
    wanted = {name: set(found.ends) for name, found in breaking.items()}
    levels: dict[str, list[Ways]] = {name: [] for name in breaking}
    for depth in range(max((found.depth for found in breaking.values()), default=0), 0, -1):
        names = [name for name, found in breaking.items() if found.depth >= depth]
        ways = ways_into(problem, engine, depth, set().union(*(wanted[name] for name in names)))
        for name in names:
            parents = {parent for state in wanted[name] for parent, _ in ways[state]}
            kept = set(sorted(parents)[:STATES_MAX])
            levels[name].append(
                {
                    state: [(parent, step) for parent, step in ways[state] if parent in kept]
                    for state in wanted[name]
                }
            )
            wanted[name] = kept
    return {name: found[::-1] for name, found in levels.items()}


def _with_fewest_faults(
    levels: Sequence[Ways], ends: Sequence[StateWords], is_fault: Callable[[int], bool]
) -> tuple[list[Ways], list[StateWords]]:
    """The ways that take as few faults as any to where they lead, and the ends with the fewest."""
    faults = dict.fromkeys(_beginnings(levels, ends), 0)
    fewest: list[Ways] = []
    for ways in levels:
        taken = {
            state: [
                (faults[parent] + is_fault(step), parent, step)
                for parent, step in into
                if parent in faults
            ]
            for state, into in ways.items()
        }
        faults = {state: min(into)[0] for state, into in taken.items() if into}
        fewest.append(
            {
                state: [(parent, step) for count, parent, step in into if count == faults[state]]
                for state, into in taken.items()
            }
        )
    least = min(faults[end] for end in ends if end in faults)
    return fewest, [end for end in ends if faults.get(end) == least]


def _beginnings(levels: Sequence[Ways], ends: Sequence[StateWords]) -> set[StateWords]:
    """The initial states that these ways begin at."""
    return {parent for ways in levels[0].values() for parent, _ in ways} if levels else set(ends)


def _is_fault(problem: Problem) -> Callable[[int], bool]:
    """Says of a step whether it uses up a budget."""
    model = problem.model
    budgets = {action.name for action in model.actions if action.budget is not None}
    return cache(lambda step: call_of(model, step)[0] in budgets)


def _choose_way(
    levels: Sequence[Ways], ends: Sequence[StateWords], actors: Callable[[int], Actors]
) -> tuple[list[StateWords], list[int]]:
    """The states of the one way that is taken, and the step to each but the first."""
    groups = _groups(levels, ends, actors)
    fewest = min(len(group) for end in ends for group in groups[-1][end])
    at = min(end for end in ends if any(len(group) == fewest for group in groups[-1][end]))
    states, steps, since = [at], list[int](), _NOBODY
    for depth in range(len(levels), 0, -1):
        at, step = min(
            (parent, step)
            for parent, step in levels[depth - 1][at]
            if any(
                len(group | since | actors(step)) == fewest for group in groups[depth - 1][parent]
            )
        )
        since |= actors(step)
        states.append(at)
        steps.append(step)
    return states[::-1], steps[::-1]


def _groups(
    levels: Sequence[Ways], ends: Sequence[StateWords], actors: Callable[[int], Actors]
) -> _Groups:
    """Return the actors on the ways to each state, level by level; the first state has none."""
    groups: _Groups = [{state: {_NOBODY} for state in _beginnings(levels, ends)}]
    for ways in levels:
        groups.append(
            {
                state: {
                    group | actors(step)
                    for parent, step in into
                    for group in groups[-1].get(parent, ())
                }
                for state, into in ways.items()
            }
        )
    return groups


def _actors_of(problem: Problem) -> Callable[[int], Actors]:
    """Says of a step who acts in it."""
    model = problem.model
    first = {action.name: action.parameters[:1] for action in model.actions}

    @cache
    def actors(step: int) -> Actors:
        name, arguments = call_of(model, step)
        if problem.symmetry.sorts:
            return _NOBODY
        return frozenset((parameter.over, arguments[0]) for parameter in first[name])

    return actors
