"""The least number of steps of many small graphs, with one and with two initial states."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.covering.test_fewest import require_least


@settings(max_examples=60, deadline=None)
@given(
    edges=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=10),
    initial=st.sampled_from([(0,), (0, 1), (0, 3)]),
)
def test_the_flow_of_a_graph_is_the_least_that_a_search_finds(
    edges: set[tuple[int, int]], initial: tuple[int, ...]
) -> None:
    require_least(edges, initial)
