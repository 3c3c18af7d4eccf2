"""The search against networkx, which knows nothing of it, on random graphs."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graph_model import NODES, graph_problem
from waterline.checker.covering.state_graph import graph_of
from waterline.model.core.state import as_dict

NODE = st.integers(0, NODES - 1)
EDGES = st.sets(st.tuples(NODE, NODE), max_size=150)


@settings(max_examples=20, deadline=None)
@given(edges=EDGES)
def test_the_exported_graph_is_the_reachable_part_of_the_graph(edges: set[tuple[int, int]]) -> None:
    graph = nx.DiGraph(list(edges))
    graph.add_node(0)
    reachable = graph.subgraph({0, *nx.descendants(graph, 0)})

    found = graph_of(graph_problem(edges), threads=1)
    exported = found.to_networkx(lambda n: as_dict(found.state(n)), lambda edge: {})

    renamed = nx.relabel_nodes(exported, {n: exported.nodes[n]["node"] for n in exported})
    assert set(renamed.nodes) == set(reachable.nodes)
    assert set(renamed.edges()) == set(reachable.edges())
