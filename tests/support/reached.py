"""Every state that the search in memory reaches, and its depth."""

from __future__ import annotations

from contextlib import closing

from waterline.checker.problem.packed_rows import state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.core.state import State


def depths_of_states(problem: Problem) -> dict[State, int]:
    """Every reachable state with its depth, shallowest first."""
    layout = problem.model.layout
    with closing(MemoryEngine(problem, threads=1)) as engine:
        depth = search(problem, engine).depth
        return {
            State(layout, state_words(row)): level
            for level in range(depth + 1)
            for block in engine.level(level)
            for row in block
        }


def reachable_states(problem: Problem) -> list[State]:
    """All of them, in the order of their words."""
    return sorted(depths_of_states(problem), key=lambda state: state.words)
