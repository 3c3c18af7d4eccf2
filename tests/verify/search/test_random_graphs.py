"""The long cases of tests/search/test_random_graphs.py."""

from __future__ import annotations

from contextlib import closing

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.test_random_graphs import EDGES, NODE
from tests.support.engines import WAYS, engine_for
from tests.support.graph_model import graph_problem, node_state
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.search.search import search


@settings(max_examples=60, deadline=None)
@given(
    edges=EDGES,
    initial=st.sets(NODE, min_size=1, max_size=3),
    bad=st.sets(NODE, max_size=4),
    way=st.sampled_from(WAYS),
)
def test_levels_counts_and_shortest_traces_are_those_of_networkx(
    edges: set[tuple[int, int]], initial: set[int], bad: set[int], way: str
) -> None:
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from(initial)
    depths = nx.multi_source_dijkstra_path_length(graph, initial, weight=lambda *_: 1)
    violated = [depths[node] for node in bad if node in depths]

    problem = graph_problem(edges, initial=sorted(initial), bad=bad)
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        findings = counterexamples_of(problem, engine, result)

    levels = [level.states for level in result.levels]
    assert levels == [list(depths.values()).count(d) for d in range(max(depths.values()) + 1)]
    assert result.generated == len(initial) + sum(graph.out_degree(node) for node in depths)
    found = result.invariants[0]
    assert found.depth == (min(violated) if violated else None)
    if violated:
        least = min(node for node in bad if depths.get(node) == min(violated))
        assert found.words == node_state(least).words
        assert len(findings[0].replayed.moments) == min(violated)
        assert findings[0].breaking is not None
        assert findings[0].breaking.states == violated.count(min(violated))
