"""Predecessors of states: all edges of the previous level on shortest paths.

Nothing of it is kept during a search: the level before is expanded again. It is for few states, as
those that break a claim at the least depth and what leads to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import row_of
from waterline.checker.graph.edges import steps_out_of
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.engines.expander import Expander
from waterline.checker.storage.blocks import hashes
from waterline.model.core.transition_system import Arguments


@dataclass(frozen=True, slots=True)
class Path:
    """An initial state, by its number, and the steps from there."""

    initial: int
    calls: tuple[tuple[str, Arguments], ...]


Ways = Mapping[StateWords, Sequence[tuple[StateWords, int]]]
"""Into each state the parents that lead there, each with the step, in no fixed order."""


def ways_into(problem: Problem, engine: Engine, depth: int, wanted: set[StateWords]) -> Ways:
    """From the level before `depth` into each of these states of that level."""
    found: dict[StateWords, list[tuple[StateWords, int]]] = {words: [] for words in wanted}
    for part in engine.over_level(depth - 1, _Finder(problem, tuple(sorted(wanted)))):
        for target, parent, step in part:
            found[target].append((parent, step))
    return found


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds every way into a wanted state from a block; other processes may do it."""

    problem: Problem
    wanted: tuple[StateWords, ...]

    def __call__(self, block: Rows) -> list[tuple[StateWords, StateWords, int]]:
        expander = Expander(self.problem)
        wanted: Rows = np.array(self.wanted, np.uint64)
        keys = hashes(wanted)
        order = np.argsort(keys, kind="stable")
        keys, known = keys[order], set(self.wanted)
        found: list[tuple[StateWords, StateWords, int]] = []
        for steps in steps_out_of(expander, block):
            for at in _candidates(steps.successors, keys).tolist():
                target = state_words(steps.successors[at])
                if target in known:
                    source = state_words(steps.sources[row_of(steps.origins[at])])
                    found.append((target, source, int(steps.step[at])))
        return found


def _candidates(rows: Rows, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the rows with the hash of a wanted state."""
    sought = hashes(np.ascontiguousarray(rows))
    places = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    return np.flatnonzero(keys[places] == sought)
