"""Covers: paths that take every transition, enter every state, or make every call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from waterline.checker.covering.paths import NO_GOAL, Path, paths_to
from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.graph.adjacency import Places, mask_of
from waterline.checker.problem.errors import Refused


class BadCover(Refused, ValueError):
    """A cover that is none, or paths too short."""


def goals_of_transitions(graph: StateGraph) -> Places:
    """Every transition is a goal."""
    return np.arange(graph.edges)


def goals_of_states(graph: StateGraph) -> Places:
    """Every state is a goal, but for the initial ones, where paths begin."""
    goals = graph.target.astype(np.int64)
    goals[mask_of(graph.initial, len(graph))[graph.target]] = NO_GOAL
    return goals


def goals_of_calls(graph: StateGraph) -> Places:
    """Every action with each combination of its arguments is a goal, wherever it is taken."""
    goals: Places = np.unique(graph.step, return_inverse=True)[1]
    return goals


GOALS = {
    "transitions": goals_of_transitions,
    "states": goals_of_states,
    "calls": goals_of_calls,
}
"""The goals of each cover, by its name."""


def cover_graph(
    graph: StateGraph,
    cover: str,
    *,
    longest: int,
    up_to: str | None = None,
    optimal: bool = False,
    guards: Callable[[StateGraph], Places] | None = None,
) -> list[Path]:
    """Paths for a cover of `GOALS`; `up_to` a sort, only of what stands for the others.

    `guards` are the goals of the cover "guards" (`checker.mutants.guards`), which is of whole
    graphs.

    `optimal`: every transition, in the fewest steps. Raises `BadCover`, and `BadEnvironment` for
    the sort.
    """
    known = GOALS if guards is None else {**GOALS, "guards": guards}
    if cover not in known:
        raise BadCover(f"cover is {cover!r}; it is one of {', '.join(known)}")
    if longest < 1:
        raise BadCover(f"longest is {longest}; a path has at least 1 step")
    if optimal:
        if cover != "transitions" or up_to is not None:
            raise BadCover("the fewest steps are known for all transitions alone, without a sort")
        # SciPy is an extra, and slow to load.
        from waterline.checker.covering.fewest import fewest_paths  # noqa: PLC0415

        return fewest_paths(graph, longest=longest)
    if up_to is not None and cover not in GOALS:
        raise BadCover("the cover guards is of all names; leave out the sort")
    goals = known[cover](graph)
    if up_to is not None:
        goals[~graph.representatives(up_to)[graph.source]] = NO_GOAL
    return paths_to(graph, goals, longest=longest)
