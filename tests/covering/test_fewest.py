"""The fewest steps that take every transition: against brute force, and against greedy paths."""

from __future__ import annotations

import heapq

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.graph_model import NODES, graph_problem
from tests.support.own import example
from waterline.checker.covering.covers import cover_graph
from waterline.checker.covering.fewest import euler_walks, least_flow
from waterline.checker.covering.paths import Path
from waterline.checker.covering.state_graph import StateGraph, graph_of

ANY = 10**6


def cost(paths: list[Path]) -> int:
    """Steps, and one for each path."""
    return sum(len(path.edges) + 1 for path in paths)


def least_by_search(graph: StateGraph) -> int:
    """The least cost by Dijkstra's algorithm over where one is and which edges are left."""
    edges = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    starts = graph.initial.tolist()
    queue = [(1, start, (1 << len(edges)) - 1) for start in starts]
    done = set()
    while True:
        paid, at, left = heapq.heappop(queue)
        if not left:
            return paid
        if (at, left) in done:
            continue
        done.add((at, left))
        for number, (source, target) in enumerate(edges):
            if source == at:
                heapq.heappush(queue, (paid + 1, target, left & ~(1 << number)))
        for start in starts:
            heapq.heappush(queue, (paid + 1, start, left))


SMALL = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)
NODE = st.integers(0, NODES - 1)
LARGE = st.sets(st.tuples(NODE, NODE), min_size=20, max_size=120)


@settings(max_examples=10, deadline=None)
@given(edges=SMALL)
def test_the_flow_of_a_small_graph_is_the_least_that_a_search_finds(
    edges: set[tuple[int, int]],
) -> None:
    require_least(edges)


def require_least(edges: set[tuple[int, int]], initial: tuple[int, ...] = (0,)) -> None:
    graph = graph_of(graph_problem(edges, initial=initial))
    assume(graph.edges)

    flow = least_flow(graph)
    paths = cover_graph(graph, "transitions", longest=ANY, optimal=True)

    assert flow.steps + flow.paths == cost(paths) == least_by_search(graph)


@settings(max_examples=5, deadline=None)
@given(edges=LARGE, longest=st.integers(1, 30))
def test_euler_walks_take_as_many_steps_as_the_flow_and_no_more_than_greedy_paths(
    edges: set[tuple[int, int]], longest: int
) -> None:
    graph = graph_of(graph_problem(edges))
    assume(graph.edges)

    flow = least_flow(graph)
    walks = list(euler_walks(graph, flow))
    cut = cover_graph(graph, "transitions", longest=longest, optimal=True)

    assert (sum(len(path.edges) for path in walks), len(walks)) == (flow.steps, flow.paths)
    assert cost(walks) <= cost(cover_graph(graph, "transitions", longest=ANY))
    assert all(len(path.edges) <= max(longest, int(graph.depth.max()) + 1) for path in cut)


def test_each_part_of_the_graph_has_a_path_of_its_own() -> None:
    # Two initial states, each with a cycle; neither is reached from the other.
    graph = graph_of(graph_problem({(0, 2), (2, 0), (1, 3), (3, 1)}, initial=(0, 1)))

    paths = cover_graph(graph, "transitions", longest=ANY, optimal=True)

    assert sorted(len(path.edges) for path in paths) == [2, 2]


def test_the_leases_take_fewer_steps() -> None:
    graph = graph_of(example("fenced_lease", leases=2))

    optimal = cover_graph(graph, "transitions", longest=ANY, optimal=True)
    greedy = cover_graph(graph, "transitions", longest=ANY)

    assert (len(greedy), cost(greedy) - len(greedy)) == (86, 580)
    assert cost(optimal) == least_flow(graph).steps + len(optimal) < cost(greedy)
