"""The fewest steps that take every transition: a minimum-cost flow, and Euler walks of it.

Let every path return to one more vertex, the reset, which leads to the initial states. Then a set
of paths that takes every edge is a closed walk that takes every edge, and the shortest one is that
of the directed Chinese postman (Edmonds and Johnson 1973). It exists, since a path may end
anywhere. The flow says how often each edge is taken again: its matrix is that of a network, so that
a vertex of the linear programme is in whole numbers. A path costs as much as a step. Needs SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array
from scipy.sparse.csgraph import connected_components

from waterline.checker.covering.paths import Path, require_cover, shortest_path
from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.graph.adjacency import Places

_BEGIN, _END = -1, -2
"""Edges from the reset, and to it."""


class NoFlow(AssertionError):
    """The solver has found no flow, or numbers that are none: there always is one."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How often each edge is taken, and how many paths begin and end in each state."""

    times: Places
    begun: Places
    ended: Places

    @property
    def steps(self) -> int:
        """Number of steps in all."""
        return int(self.times.sum())

    @property
    def paths(self) -> int:
        """Number of paths."""
        return int(self.begun.sum())


def fewest_paths(graph: StateGraph, *, longest: int) -> list[Path]:
    """Paths that take every transition, with the fewest steps and paths in all.

    A path of more than `longest` steps is cut, and its rest begins anew, which takes more. Raises
    `NoFlow`.
    """
    walks = euler_walks(graph, least_flow(graph)) if graph.edges else []
    paths = [part for walk in walks for part in _cut(graph, walk, longest)]
    require_cover(graph, np.arange(graph.edges), paths)
    return paths


def least_flow(graph: StateGraph) -> Flow:
    """The flow of least cost that takes every edge. Raises `NoFlow`."""
    states = len(graph)
    source, target = graph.source.astype(np.int64), graph.target.astype(np.int64)
    initial, every = graph.initial.astype(np.int64), np.arange(states)
    # An edge that stays in its state, or is beside another, is not worth a repetition.
    moves = np.flatnonzero(source != target)
    pairs, first = np.unique(source[moves] * states + target[moves], return_index=True)
    again = moves[first]
    linked = csc_array((np.ones(len(pairs)), (pairs // states, pairs % states)), (states, states))
    parts, part_of = connected_components(linked, connection="weak")
    # A path begins from the reset by way of the part that its initial state is in. Each part that
    # has an edge needs one, since no edge leads into it.
    reset, begun = states + parts, states + part_of[initial]
    tail = np.concatenate((source[again], every, begun, np.full(parts, reset)))
    head = np.concatenate(
        (target[again], np.full(states, reset), initial, states + np.arange(parts))
    )
    costs = np.repeat((1, 0, 0, 1), (len(again), states, len(initial), parts))
    least = np.zeros(len(tail), np.int64)
    least[len(tail) - parts :] = np.bincount(part_of[source], minlength=parts) > 0
    arcs = np.arange(len(tail))
    matrix = csc_array(
        (
            np.repeat((1.0, -1.0), len(arcs)),
            (np.concatenate((head, tail)), np.concatenate((arcs, arcs))),
        ),
        (reset + 1, len(arcs)),
    )
    needed = np.zeros(reset + 1)
    needed[:states] = np.bincount(source, minlength=states) - np.bincount(target, minlength=states)
    bounds = np.column_stack((least, np.full(len(arcs), np.inf)))
    found = linprog(costs, A_eq=matrix, b_eq=needed, bounds=bounds, method="highs-ds")
    if found.x is None:
        raise NoFlow(f"the solver has found no flow: {found.message}")
    taken = np.rint(found.x).astype(np.int64)
    if (taken < least).any() or (matrix @ taken != needed).any():
        raise NoFlow("what the solver has found is no flow in whole numbers")
    times: Places = np.ones(graph.edges, np.int64)
    times[again] += taken[: len(again)]
    at = len(again) + states
    begins = np.zeros(states, np.int64)
    begins[initial] = taken[at : at + len(initial)]
    return Flow(times, begins, taken[len(again) : at])


def euler_walks(graph: StateGraph, flow: Flow) -> Iterator[Path]:
    """Paths that take each edge as often as the flow does: one closed walk, cut at the reset.

    By Hierholzer's algorithm: walk on to a dead end, and insert a walk wherever an edge is left.
    """
    first = np.searchsorted(graph.source, np.arange(len(graph) + 1)).tolist()
    target, left, ended = graph.target.tolist(), flow.times.tolist(), flow.ended.tolist()
    following, reset = first[:-1], len(graph)
    begins = np.repeat(np.arange(len(graph)), flow.begun)[::-1].tolist()
    stack, closed = [(reset, _END)], list[tuple[int, int]]()
    while stack:
        at = stack[-1][0]
        if at == reset:
            if begins:
                stack.append((begins.pop(), _BEGIN))
            else:
                closed.append(stack.pop())
            continue
        edge = following[at]
        while edge < first[at + 1] and not left[edge]:
            edge += 1
        following[at] = edge
        if edge < first[at + 1]:
            left[edge] -= 1
            stack.append((target[edge], edge))
        elif ended[at]:
            ended[at] -= 1
            stack.append((reset, _END))
        else:
            closed.append(stack.pop())
    start, edges = -1, list[int]()
    for state, came in reversed(closed):
        if came == _BEGIN:
            start, edges = state, []
        elif came != _END:
            edges.append(came)
        elif edges:
            yield Path(start, tuple(edges))
            edges = []


def _cut(graph: StateGraph, path: Path, longest: int) -> Iterator[Path]:
    """Parts of a path that are not too long; each begins with a shortest way to its first edge."""
    start, way, rest = path.start, tuple[int, ...](), path.edges
    while rest:
        room = max(longest - len(way), 1)
        yield Path(start, (*way, *rest[:room]))
        rest = rest[room:]
        if rest:
            again = shortest_path(graph, int(graph.source[rest[0]]))
            start, way = again.start, again.edges
