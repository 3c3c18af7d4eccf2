"""Concretisation of a path through symmetry representatives to original names.

A search under a symmetry knows of each state only what represents it. Its path is turned forwards
into a real one: from a real state some step leads to a state that the next representative stands
for, because what one name can do every other can. The first such step is taken, in the order of the
table of contents, then of the arguments, so that the same path always comes out the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from waterline.checker.compiler.kernel import canonicalise
from waterline.checker.problem.packed_rows import StateWords, state_words
from waterline.checker.problem.problem import Problem
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
