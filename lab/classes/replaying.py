"""Replay of every transition of a complete graph on the classes of a release.

A path ends where the classes differ from the model. Transitions that were behind are then reached
by other paths, which take no transition that differs, until none is left that can be reached so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lab.classes.comparison import differences, known_reason
from lab.classes.course import TAKEN, Course, courses
from lab.classes.jvm import Replicas
from waterline.checker.covering.paths import NO_GOAL, paths_to
from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.graph.adjacency import Mask, Places
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.model.message.features import EPOCH_ON_LEADING, has

LONGEST = 50
_OUT_OF_REACH = np.iinfo(np.int32).max


class FirstStatesDiffer(CannotConfirm):
    """The classes cannot be brought to the first state of the model."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A transition after which the classes differ: the path up to it, and what differs.

    `known` is the known difference that this is, "" for a new one.
    """

    edge: int
    steps: tuple[str, ...]
    differences: tuple[str, ...]
    known: str


@dataclass(slots=True)
class Replayed:
    """Transitions of a graph that were compared, and how they differ."""

    graph: StateGraph
    agree: Mask
    disagreements: dict[int, Disagreement] = field(default_factory=dict)
    paths: int = 0
    steps: int = 0

    def left(self) -> Mask:
        """Transitions that were not compared yet."""
        found = ~self.agree
        found[list(self.disagreements)] = False
        return found


def replay_graph(
    graph: StateGraph,
    replicas: Replicas,
    *,
    paths_max: int | None = None,
    announce: Callable[[str], None] = lambda line: None,
) -> Replayed:
    """Take every transition that can be reached without one that differs."""
    found = Replayed(graph, np.zeros(graph.edges, np.bool_))
    while found.left().any():
        part, edges = without(graph, [*found.disagreements, *_not_taken(graph)])
        goals: Places = np.where(found.left()[edges], np.arange(len(edges)), NO_GOAL)
        if (goals == NO_GOAL).all():
            break
        paths = paths_to(part, goals, longest=LONGEST)
        for number, course in enumerate(courses(part, paths), 1):
            if found.paths == paths_max:
                return found
            _replay_course(replicas, course, edges, found)
            if number % 50 == 0:
                announce(f"{number} of {len(paths)} paths, {found.steps} steps")
    return found


def _replay_course(replicas: Replicas, course: Course, edges: Places, found: Replayed) -> None:
    on_leading = has(found.graph.problem.model.settings, EPOCH_ON_LEADING)
    seen = replicas.replay(course.line)
    found.paths += 1
    for number, each in enumerate(seen):
        differing = differences(course.states[number], each, epoch_on_leading=on_leading)
        if number == 0:
            if differing:
                raise FirstStatesDiffer(f"the first states differ: {differing[0]}")
            continue
        found.steps += 1
        edge = int(edges[course.edges[number - 1]])
        if differing:
            found.agree[edge] = False
            known = known_reason(course.states[number], each, differing)
            steps = course.steps[:number]
            if edge not in found.disagreements or not known:
                found.disagreements[edge] = Disagreement(edge, steps, tuple(differing), known)
            return
        if edge not in found.disagreements:
            found.agree[edge] = True


def _not_taken(graph: StateGraph) -> list[int]:
    """Transitions of actions that the harness does not take."""
    return [edge for edge in range(graph.edges) if graph.call(edge)[0] not in TAKEN]


def without(graph: StateGraph, edges: Sequence[int]) -> tuple[StateGraph, Places]:
    """The graph without some of its edges and without what they alone lead to.

    The second value is the number, in the whole graph, of each edge of the part.
    """
    kept = np.ones(graph.edges, np.bool_)
    kept[list(edges)] = False
    depth = np.full(len(graph), _OUT_OF_REACH, np.int32)
    depth[graph.initial] = 0
    level = 0
    while (reached := np.unique(graph.target[kept & (depth[graph.source] == level)])).size:
        fresh = reached[depth[reached] == _OUT_OF_REACH]
        level += 1
        depth[fresh] = level
        if not fresh.size:
            break
    numbers: Places = np.flatnonzero(kept & (depth[graph.source] != _OUT_OF_REACH))
    part = replace(
        graph,
        depth=depth,
        source=graph.source[numbers],
        target=graph.target[numbers],
        step=graph.step[numbers],
    )
    return part, numbers
