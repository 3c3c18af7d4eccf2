"""The search against networkx, which knows nothing of it, on random graphs."""

from __future__ import annotations

from contextlib import closing

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.engines import WAYS, engine_for
from tests.support.graph_model import NODES, graph_problem, node_state
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.search.graph import state_graph
from waterline.checker.search.search import search

NODE = st.integers(0, NODES - 1)
EDGES = st.sets(st.tuples(NODE, NODE), max_size=150)


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


@settings(max_examples=20, deadline=None)
@given(edges=EDGES)
def test_the_exported_graph_is_the_reachable_part_of_the_graph(edges: set[tuple[int, int]]) -> None:
    graph = nx.DiGraph(list(edges))
    graph.add_node(0)
    reachable = graph.subgraph({0, *nx.descendants(graph, 0)})

    exported = state_graph(graph_problem(edges).model)

    renamed = nx.relabel_nodes(exported, {n: int(exported.nodes[n]["node"]) for n in exported})
    assert set(renamed.nodes) == set(reachable.nodes)
    assert set(renamed.edges()) == set(reachable.edges())
