"""Further counterexamples are of other kinds, as short as can be, and all that there are."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.commands import Commands
from tests.support.engines import WAYS, engine_for
from tests.support.graph_model import NODES, graph_problem
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.search import search
from waterline.checker.traces.alternatives import LONGER_MAX, Others, others_of

NODE = st.integers(0, NODES - 1)
Kind = tuple[int, ...]
"""The nodes that a way goes to, in order of their numbers: in another order it is the same kind."""


def others_in(problem: Problem, way: str, count: int) -> tuple[Kind, Others] | None:
    """The kind that is shown, and the others; None where nothing breaks."""
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        findings = counterexamples_of(problem, engine, result)
        if not findings:
            return None
        first = findings[0]
        assert first.breaking is not None
        others = others_of(problem, engine, first.breaking, first, count, result.depth)
    return kind_of([moment.values[0] for moment in first.replayed.moments]), others


def kind_of(nodes: list[int]) -> Kind:
    return tuple(sorted(nodes))


def kinds_by_length(graph: nx.DiGraph, initial: set[int], bad: set[int]) -> dict[int, set[Kind]]:
    """Of every shortest way to a bad node by way of none, found by another program."""
    found: dict[int, set[Kind]] = {}
    depths = nx.multi_source_dijkstra_path_length(graph, initial, weight=lambda *_: 1)
    for node in bad & set(depths):
        for start in initial:
            if nx.has_path(graph, start, node):
                for path in nx.all_shortest_paths(graph, start, node):
                    if len(path) - 1 == depths[node] and not bad & set(path[:-1]):
                        found.setdefault(len(path) - 1, set()).add(kind_of(path[1:]))
    return found


def adds_to(kind: Kind, other: Kind) -> bool:
    return Counter(other) <= Counter(kind)


GRAPHS = {
    "edges": st.sets(st.tuples(NODE, NODE), min_size=60, max_size=180),
    "initial": st.sets(NODE, min_size=1, max_size=2),
    "bad": st.sets(NODE, min_size=1, max_size=6),
    "way": st.sampled_from(WAYS),
}


def assert_all_kinds_are_found(
    edges: set[tuple[int, int]], initial: set[int], bad: set[int], way: str
) -> None:
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from({*initial, *bad})
    known = kinds_by_length(graph, initial, bad)
    asked = graph_problem(edges, initial=sorted(initial), bad=bad)
    found = others_in(asked, way, 1_000)

    if found is None:
        assert not known
        return
    first, others = found
    shown = [first, *(kind_of([m.values[0] for m in f.replayed.moments]) for f in others.findings)]
    shortest = min(known)
    assert (others.kinds, others.is_all) == (len(known[shortest]), True)
    for number, kind in enumerate(shown):
        assert kind in known[len(kind)]
        assert not any(adds_to(kind, earlier) for earlier in shown[:number])
    assert [*map(len, shown)] == sorted(map(len, shown))
    within = [
        k for length, kinds in known.items() if length <= shortest + LONGER_MAX for k in kinds
    ]
    assert all(any(adds_to(kind, one) for one in shown) for kind in within)


@settings(max_examples=3)
@given(**GRAPHS)
def test_all_kinds_of_a_graph_are_found_and_no_others(
    edges: set[tuple[int, int]], initial: set[int], bad: set[int], way: str
) -> None:
    assert_all_kinds_are_found(edges, initial, bad, way)


@pytest.mark.parametrize("way", WAYS)
def test_what_differs_most_comes_first(way: str) -> None:
    ways = [(0, 1, 2, 9), (0, 1, 3, 9), (0, 4, 5, 9)]
    edges = {edge for nodes in ways for edge in pairwise(nodes)}
    found = others_in(graph_problem(edges, bad={9}), way, 5)

    assert found is not None
    assert found[0] == (1, 2, 9)
    assert [tuple(m.values[0] for m in f.replayed.moments) for f in found[1].findings] == [
        (4, 5, 9),
        (1, 3, 9),
    ]
    assert found[1].kinds == 3


def test_of_a_property_it_is_the_steps_before_that_differ() -> None:
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    asked = graph_problem(edges, steep_from={3}, steep_to={4})
    found = others_in(asked, "one thread", 5)

    assert found is not None
    assert found[0] == (1, 3, 4)
    assert [[m.values[0] for m in f.replayed.moments] for f in found[1].findings] == [[2, 3, 4]]


MOVES = ("--protocol", "hw", "--engine", "local", "--moves", 1)


def test_the_command_shows_and_writes_them(cli: Commands, tmp_path: Path) -> None:
    asked = (*MOVES, "--invariant", "no_committed_loss", "--another", 2)
    code, out, _ = cli(*asked, "--trace-dir", tmp_path)
    document = json.loads(cli(*asked, "--format", "json")[1])
    claim = document["invariants"]["no_committed_loss"]
    viewed = cli("view", tmp_path / "hw-no_committed_loss-2r2n2e-another2.json", name="waterline")

    assert code == 12
    assert "ANOTHER 1 no_committed_loss: 12 steps\n" in out
    assert "ANOTHER 2 no_committed_loss: 13 steps\n" in out
    assert "All of 11 steps have the same ones in another order; shown are 3 that" in out
    assert [len(each["steps"]) for each in claim["others"]] == [12, 13]
    assert (claim["kinds"], claim["all_kinds"]) == (1, True)
    assert viewed[0] == 0
    assert viewed[1].startswith("hw (kafka-message) against no_committed_loss: 13 steps\n")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "--another is about one claim; name it with --invariant"),
        (("--invariant", "sane", "--invariant", "visible_hw"), "--another is about one claim"),
        (("--invariant", "sane", "--symmetry", "records"), "leave out --symmetry"),
    ],
)
def test_what_it_cannot_be_asked_with_is_told(
    options: tuple[str, ...], complaint: str, cli: Commands
) -> None:
    code, out, err = cli(*MOVES, "--another", 2, *options)

    assert (code, out) == (2, "")
    assert complaint in err
