"""Further counterexamples of many random graphs."""

from __future__ import annotations

from hypothesis import given, settings

from tests.traces.test_alternatives import GRAPHS, assert_all_kinds_are_found


@settings(max_examples=40)
@given(**GRAPHS)
def test_all_kinds_of_a_graph_are_found_and_no_others(
    edges: set[tuple[int, int]], initial: set[int], bad: set[int], way: str
) -> None:
    assert_all_kinds_are_found(edges, initial, bad, way)
