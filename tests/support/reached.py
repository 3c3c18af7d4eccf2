"""Every state that the search in memory reaches."""

from __future__ import annotations

from contextlib import closing

from checker.problem.packed_rows import state_words
from checker.problem.problem import Problem
from checker.search.engines.memory import MemoryEngine
from checker.search.search import search
from model.core.state import State


def reachable_states(problem: Problem) -> list[State]:
    """All of them, in the order of their words."""
    with closing(MemoryEngine(problem, threads=1)) as engine:
        depth = search(problem, engine).depth
        blocks = [block for level in range(depth + 1) for block in engine.level(level)]
    words = sorted(state_words(row) for block in blocks for row in block)
    return [State(problem.model.layout, each) for each in words]
