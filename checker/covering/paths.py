"""Few paths from initial states that meet every goal of a graph, in few steps.

Each edge may have a goal, a number: to take any edge of a goal meets it. With a goal for each edge,
paths take every transition; with the target as the goal, they enter every state. A path walks on to
the nearest goal left, and ends where a new path would be nearer to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.graph.adjacency import Places

NO_GOAL = -1
_RESET = 1
"""Price of a new path, in steps."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path: the number of an initial state, and of each edge from there."""

    start: int
    edges: tuple[int, ...]


class NotCovered(AssertionError):
    """Paths that are none of the graph, or leave a goal: a bug of the checker."""


def paths_to(graph: StateGraph, goals: Places, *, longest: int) -> list[Path]:
    """Paths that meet every goal, `goals` having that of each edge or `NO_GOAL`.

    A path has at most `longest` steps, unless it leads straight to a goal that is farther away.
    """
    walker = _Walker(graph, goals)
    paths: list[Path] = []
    while (at := walker.nearest_to_start()) is not None:
        paths.append(walker.walk(at, longest))
    require_cover(graph, goals, paths)
    return paths


class _Walker:
    """Goals that are left, and the edges of the graph as plain lists."""

    def __init__(self, graph: StateGraph, goals: Places) -> None:
        states = len(graph)
        counts = np.bincount(graph.source, minlength=states)
        self.first: list[int] = np.concatenate(([0], np.cumsum(counts))).tolist()
        self.source: list[int] = graph.source.tolist()
        self.target: list[int] = graph.target.tolist()
        self.depth: list[int] = graph.depth.tolist()
        self.goals: list[int] = goals.tolist()
        self.way = _shortest_ways(graph)
        wanted = np.flatnonzero(goals != NO_GOAL)
        # Edges that meet a goal that is left, by state.
        self.open: list[int] = np.bincount(graph.source[wanted], minlength=states).tolist()
        self.is_left = [False] * (int(goals.max(initial=NO_GOAL)) + 1)
        self.of_goal: list[list[int]] = [[] for _ in self.is_left]
        for edge in wanted.tolist():
            self.is_left[self.goals[edge]] = True
            self.of_goal[self.goals[edge]].append(edge)
        order = np.lexsort((np.arange(states), graph.depth))
        self.by_depth: list[int] = [state for state in order.tolist() if self.open[state]]
        self.at = 0
        # Where the last look-round came by, so that each needs no new table.
        self.seen = [0] * states
        self.looks = 0

    def nearest_to_start(self) -> int | None:
        """A state of least depth with an edge to a goal; None once all are met."""
        while self.at < len(self.by_depth) and not self.open[self.by_depth[self.at]]:
            self.at += 1
        return self.by_depth[self.at] if self.at < len(self.by_depth) else None

    def walk(self, to: int, longest: int) -> Path:
        """A path by way of this state, on as long as it pays."""
        start, path = self._from_start(to)
        for edge in path:
            self._meet(edge)
        at = to
        while True:
            while self.open[at] and (len(path) < longest or at == to):
                edge = self._goal_edge(at)
                self._meet(edge)
                path.append(edge)
                at, to = self.target[edge], -1
            if self.open[at]:
                break
            way = self._way_on(at, longest - len(path) - 1)
            if not way:
                break
            for edge in way:
                self._meet(edge)
            path += way
            at = self.target[way[-1]]
        return Path(start, tuple(path))

    def _from_start(self, state: int) -> tuple[int, list[int]]:
        path: list[int] = []
        while (edge := self.way[state]) >= 0:
            path.append(edge)
            state = self.source[edge]
        return state, path[::-1]

    def _goal_edge(self, state: int) -> int:
        """An edge to a goal that is left: one that stays in the state, else the first."""
        edges = [
            edge
            for edge in range(self.first[state], self.first[state + 1])
            if self.goals[edge] != NO_GOAL and self.is_left[self.goals[edge]]
        ]
        return next((edge for edge in edges if self.target[edge] == state), edges[0])

    def _meet(self, edge: int) -> None:
        goal = self.goals[edge]
        if goal != NO_GOAL and self.is_left[goal]:
            self.is_left[goal] = False
            for other in self.of_goal[goal]:
                self.open[self.source[other]] -= 1

    def _way_on(self, state: int, room: int) -> list[int]:
        """Edges to the nearest state with a goal, in no more steps than a new path would take.

        Empty where there is none.
        """
        nearest = self.nearest_to_start()
        if nearest is None:
            return []
        steps_max = min(room, self.depth[nearest] + _RESET - 1)
        self.looks += 1
        self.seen[state] = self.looks
        came: dict[int, int] = {}
        frontier = [state]
        for _ in range(steps_max):
            following = []
            for each in frontier:
                for edge in range(self.first[each], self.first[each + 1]):
                    goal = self.target[edge]
                    if self.seen[goal] == self.looks:
                        continue
                    self.seen[goal] = self.looks
                    came[goal] = edge
                    if self.open[goal]:
                        return self._back(came, state, goal)
                    following.append(goal)
            frontier = following
        return []

    def _back(self, came: dict[int, int], start: int, end: int) -> list[int]:
        way: list[int] = []
        while end != start:
            way.append(came[end])
            end = self.source[came[end]]
        return way[::-1]


def _shortest_ways(graph: StateGraph) -> list[int]:
    """The edge that first reaches each state; -1 for an initial one."""
    down = np.flatnonzero(graph.depth[graph.target] == graph.depth[graph.source] + 1)[::-1]
    way: Places = np.full(len(graph), -1, np.int64)
    way[graph.target[down]] = down
    return [int(each) for each in way]


def require_cover(graph: StateGraph, goals: Places, paths: Sequence[Path]) -> None:
    """Raise `NotCovered` unless the paths begin at initial states, hang together, and meet all."""
    initial = set(graph.initial.tolist())
    met = np.zeros(int(goals.max(initial=NO_GOAL)) + 1, np.bool_)
    for number, path in enumerate(paths, 1):
        edges = np.array(path.edges, np.int64)
        ends = np.concatenate(([path.start], graph.target[edges]))
        if path.start not in initial or (graph.source[edges] != ends[:-1]).any():
            raise NotCovered(f"path {number} is none of the graph")
        taken = goals[edges]
        met[taken[taken != NO_GOAL]] = True
    left = np.setdiff1d(goals[goals != NO_GOAL], np.flatnonzero(met))
    if len(left):
        raise NotCovered(f"{len(left)} goals are left, first {left[0]}")


def shortest_path(graph: StateGraph, state: int) -> Path:
    """A shortest path to a state."""
    ways, edges = _shortest_ways(graph), list[int]()
    while ways[state] >= 0:
        edges.append(ways[state])
        state = int(graph.source[ways[state]])
    return Path(state, tuple(edges[::-1]))
