"""Paths cover what they are to, in few steps, and are the same in every process."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graph_model import NODES, graph_problem
from tests.support.own import example
from waterline.checker.covering.covers import GOALS, BadCover, cover_graph
from waterline.checker.covering.paths import NO_GOAL, NotCovered, Path, paths_to, require_cover
from waterline.checker.covering.state_graph import NoGraph, StateGraph, graph_of
from waterline.model.core.errors import BadEnvironment

NODE = st.integers(0, NODES - 1)
EDGES = st.sets(st.tuples(NODE, NODE), max_size=150)


@cache
def leases(clients: int = 2) -> StateGraph:
    return graph_of(example("fenced_lease", clients=clients, leases=2))


def steps(paths: list[Path]) -> int:
    return sum(len(path.edges) for path in paths)


@settings(max_examples=8, deadline=None)
@given(edges=EDGES, longest=st.integers(1, 30), cover=st.sampled_from(sorted(GOALS)))
def test_paths_of_a_random_graph_cover_it_and_are_short(
    edges: set[tuple[int, int]], longest: int, cover: str
) -> None:
    graph = graph_of(graph_problem(edges))

    paths = cover_graph(graph, cover, longest=longest)

    require_cover(graph, GOALS[cover](graph), paths)
    assert all(len(path.edges) <= max(longest, int(graph.depth.max()) + 1) for path in paths)


@pytest.mark.parametrize(
    ("cover", "paths", "taken"), [("transitions", 86, 580), ("states", 40, 240), ("calls", 4, 12)]
)
def test_covers_of_the_leases(cover: str, paths: int, taken: int) -> None:
    found = cover_graph(leases(), cover, longest=50)

    assert (len(found), steps(found)) == (paths, taken)


def test_up_to_a_sort_each_kind_of_transition_is_taken_once_and_fewer_in_all() -> None:
    graph = leases()
    alone = graph.representatives("client")

    found = cover_graph(graph, "transitions", longest=50, up_to="client")

    taken = np.unique([edge for path in found for edge in path.edges])
    assert set(np.flatnonzero(alone[graph.source])) <= set(taken)
    assert steps(found) < 0.7 * steps(cover_graph(graph, "transitions", longest=50))


def test_paths_that_leave_a_goal_or_begin_elsewhere_are_no_cover() -> None:
    graph = leases()
    goals = GOALS["transitions"](graph)
    paths = cover_graph(graph, "transitions", longest=50)

    with pytest.raises(NotCovered, match="goals are left"):
        require_cover(graph, goals, paths[1:])
    with pytest.raises(NotCovered, match="path 1 is none of the graph"):
        require_cover(graph, goals, [Path(1, paths[0].edges), *paths])
    with pytest.raises(NotCovered, match="path 1 is none of the graph"):
        require_cover(graph, goals, [Path(0, paths[0].edges[::-1]), *paths])


def test_without_a_goal_there_is_no_path() -> None:
    graph = leases()

    assert paths_to(graph, np.full(graph.edges, NO_GOAL), longest=50) == []


def test_what_is_no_cover_is_refused() -> None:
    with pytest.raises(BadCover, match="cover is 'edges'; it is one of transitions"):
        cover_graph(leases(), "edges", longest=50)
    with pytest.raises(BadCover, match="longest is 0"):
        cover_graph(leases(), "states", longest=0)
    with pytest.raises(BadEnvironment, match="has no sort 'clint'; did you mean client"):
        cover_graph(leases(), "states", longest=9, up_to="clint")


def test_a_graph_up_to_names_and_one_that_is_too_large_are_refused() -> None:
    with pytest.raises(NoGraph, match="leave out the symmetry"):
        graph_of(example("fenced_lease", "client"))
    with pytest.raises(NoGraph, match="more than 100 states"):
        graph_of(example("fenced_lease"), states_max=100)
