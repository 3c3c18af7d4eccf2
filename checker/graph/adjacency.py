"""Adjacency lists, and breadth-first distances by them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int32]"
"""States, or edges, by number."""
Places: TypeAlias = "NDArray[np.int64]"
Mask: TypeAlias = "NDArray[np.bool_]"
"""Selection of states, or of edges."""
NOT_REACHED = -1


def mask_of(numbers: Numbers | Places, size: int) -> Mask:
    """Return the selection of these numbers, of so many."""
    mask: Mask = np.zeros(size, np.bool_)
    mask[numbers] = True
    return mask


def spans(first: Places, states: Numbers | Places) -> tuple[Places, Places]:
    """Where the edges of these states are, state by state, and how many each has.

    `first[i]` is where those of state i begin, and those of the one before end.
    """
    begins = first[states]
    counts = first[states + 1] - begins
    skipped = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    places: Places = np.arange(int(counts.sum())) + skipped
    return places, counts


class Adjacency:
    """Edges by source state; those of one state keep the order given."""

    def __init__(self, origin: Numbers, goal: Numbers, states: int) -> None:
        self.goal = goal
        self._order: Places | None = None
        if np.any(origin[1:] < origin[:-1]):
            self._order = np.argsort(origin, kind="stable")
        counts = np.bincount(origin, minlength=states)
        self._first: Places = np.concatenate(([0], np.cumsum(counts)))
        self._seen_at: Numbers = np.empty(states, np.int32)

    def edges_of(self, states: Numbers) -> Places:
        """The edges that leave these states, by their numbers, state by state."""
        places, _ = spans(self._first, states)
        return places if self._order is None else self._order[places]

    def goals_of(self, states: Numbers, wanted: Mask) -> Numbers:
        """Where the edges of these states lead among those that are wanted, each once."""
        goals = self.goal[self.edges_of(states)]
        return self.distinct(goals[wanted[goals]])

    def distinct(self, states: Numbers) -> Numbers:
        """Each of these states once. Sorting them would take several times as long."""
        places: Numbers = np.arange(len(states), dtype=np.int32)
        self._seen_at[states] = places
        found: Numbers = states[self._seen_at[states] == places]
        return found

    def reach(self, begun: Mask) -> Mask:
        """Return all states reachable from those in `begun`, themselves included."""
        left = ~begun
        frontier: Numbers = np.flatnonzero(begun).astype(np.int32)
        while len(frontier):
            frontier = self.goals_of(frontier, left)
            left[frontier] = False
        return ~left


def distances(adjacency: Adjacency, begun: Iterable[Numbers], inside: Mask) -> Numbers:
    """How many steps after the beginning each state inside is reached, by way of states inside.

    `begun` are states that are there after 0, 1, 2... steps without any of these. `NOT_REACHED`
    for the others.
    """
    found: Numbers = np.full(len(inside), NOT_REACHED, np.int32)
    left = inside.copy()
    frontier: Numbers = np.empty(0, np.int32)
    waiting = list(begun)
    steps = 0
    while len(frontier) or steps < len(waiting):
        frontier = adjacency.goals_of(frontier, left)
        if steps < len(waiting):
            frontier = np.concatenate((frontier, waiting[steps][left[waiting[steps]]]))
            frontier = adjacency.distinct(frontier)
        left[frontier] = False
        found[frontier] = steps
        steps += 1
    return found
