"""Shortest paths within the graph, over admitted edges."""

from __future__ import annotations

import numpy as np

from checker.liveness.adjacency import NOT_REACHED, Adjacency, Mask, Numbers, distances
from checker.liveness.space import Space


class ShortestWays:
    """How many steps it is from each state to the nearest of `goals`, by the edges of `taken`."""

    def __init__(self, space: Space, taken: Mask, goals: Mask) -> None:
        self._space, self._taken = space, taken
        back = Adjacency(space.target[taken], space.source[taken], len(space))
        begun: Numbers = np.flatnonzero(goals).astype(np.int32)
        everywhere: Mask = np.ones(len(space), np.bool_)
        self.left: Numbers = distances(back, [begun], everywhere)
        """`NOT_REACHED` where no way leads to one."""

    def reaches(self, state: int) -> bool:
        """Whether there is a way from a state."""
        return int(self.left[state]) != NOT_REACHED

    def way(self, begins: int) -> tuple[int, ...]:
        """The edges of a shortest way from a state that has one.

        Of several the first: at each state by the action that comes first in the model.
        """
        space, at = self._space, begins
        edges: list[int] = []
        while self.left[at] > 0:
            out = space.forwards.edges_of(np.array([at], np.int32))
            nearer = self.left[space.target[out]] == self.left[at] - 1
            edges.append(int(out[self._taken[out] & nearer].min()))
            at = int(space.target[edges[-1]])
        return tuple(edges)
