"""The edges that leave each state, and how far it is from some states to all others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int32]"
"""States, or edges, by number."""
Places: TypeAlias = "NDArray[np.int64]"
Mask: TypeAlias = "NDArray[np.bool_]"
"""Which of all states, or of all edges."""
NOT_REACHED = -1


class Adjacency:
    """Edges by the state that they leave; those of one state stay in the order in which they are
    given.
    """

    def __init__(self, origin: Numbers, goal: Numbers, states: int) -> None:
        self.goal = goal
        self._order: Places | None = None
        if np.any(origin[1:] < origin[:-1]):
            self._order = np.argsort(origin, kind="stable")
        counts = np.bincount(origin, minlength=states)
        self._first: Places = np.concatenate(([0], np.cumsum(counts)))

    def edges_of(self, states: Numbers) -> Places:
        """The edges that leave these states, by their numbers, state by state."""
        begins, ends = self._first[states], self._first[states + 1]
        counts = ends - begins
        total = int(counts.sum())
        skipped = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        places: Places = np.arange(total) + skipped
        return places if self._order is None else self._order[places]

    def goals_of(self, states: Numbers) -> Numbers:
        """Where these edges lead, each state once, in order."""
        return np.unique(self.goal[self.edges_of(states)])

    def reached(self, begun: Mask) -> Mask:
        """All states that can be reached from those with which it is begun, themselves included."""
        found = begun.copy()
        frontier: Numbers = np.flatnonzero(begun).astype(np.int32)
        while len(frontier):
            goals = self.goals_of(frontier)
            frontier = goals[~found[goals]]
            found[frontier] = True
        return found


def distances(adjacency: Adjacency, begun: Iterable[Numbers], inside: Mask) -> Numbers:
    """How many steps after the beginning each state inside is reached, by way of states inside.

    `begun` are states that are there after 0, 1, 2... steps without any of these. `NOT_REACHED`
    for the others.
    """
    found: Numbers = np.full(len(inside), NOT_REACHED, np.int32)
    frontier: Numbers = np.empty(0, np.int32)
    waiting = list(begun)
    steps = 0
    while len(frontier) or steps < len(waiting):
        goals = adjacency.goals_of(frontier)
        if steps < len(waiting):
            goals = np.union1d(goals, waiting[steps])
        frontier = goals[inside[goals] & (found[goals] == NOT_REACHED)].astype(np.int32)
        found[frontier] = steps
        steps += 1
    return found
