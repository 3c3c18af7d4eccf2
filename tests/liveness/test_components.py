"""Strongly connected components are those of networkx, which knows nothing of ours."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterline.checker.liveness.fairness import components

Edge = tuple[int, int]


def numbers_of(states: int, edges: list[Edge]) -> list[int]:
    """The component of each state, as our loop numbers them."""
    ordered = np.array(sorted(edges), np.int64).reshape(-1, 2)
    leaving = np.bincount(ordered[:, 0], minlength=states)
    first = np.concatenate(([0], np.cumsum(leaving)))
    found: list[int] = components(first, ordered[:, 1].astype(np.int32)).tolist()
    return found


def grouped(numbers: list[int]) -> set[frozenset[int]]:
    """The states of each component."""
    members: dict[int, list[int]] = {}
    for state, number in enumerate(numbers):
        members.setdefault(number, []).append(state)
    return {frozenset(each) for each in members.values()}


def of_networkx(states: int, edges: list[Edge]) -> set[frozenset[int]]:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(states))
    return {frozenset(each) for each in nx.strongly_connected_components(graph)}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    """Edges that lead back to a state, or are there twice, included."""
    states = draw(st.integers(1, 30))
    state = st.integers(0, states - 1)
    return states, draw(st.lists(st.tuples(state, state), max_size=90))


@settings(max_examples=100)
@given(graph=graphs())
def test_components_of_random_graphs_are_those_of_networkx(graph: tuple[int, list[Edge]]) -> None:
    numbers = numbers_of(*graph)

    assert grouped(numbers) == of_networkx(*graph)
    assert {*numbers} == {*range(max(numbers) + 1)}


@pytest.mark.parametrize("degree", [0.5, 1.0, 1.5, 3.0])
def test_components_of_larger_graphs_are_those_of_networkx(degree: float) -> None:
    """With few edges a state nearly all are alone, with many nearly all are together."""
    states = 2000
    drawn = np.random.default_rng(1).integers(0, states, (int(degree * states), 2))
    edges = [(source, target) for source, target in drawn.tolist()]

    assert grouped(numbers_of(states, edges)) == of_networkx(states, edges)


@pytest.mark.parametrize("closed", [True, False])
def test_a_path_of_a_million_states_needs_no_stack_of_calls(closed: bool) -> None:
    states = 1_000_000
    first = np.arange(states + 1, dtype=np.int64)
    target = np.roll(np.arange(states, dtype=np.int32), -1)
    if not closed:
        target[-1] = states - 1

    assert len(np.unique(components(first, target))) == (1 if closed else states)


def test_a_graph_without_states_has_no_components() -> None:
    assert len(components(np.zeros(1, np.int64), np.zeros(0, np.int32))) == 0
