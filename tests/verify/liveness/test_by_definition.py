"""Many random graphs: what the checker says of them is what the definitions say."""

from __future__ import annotations

import pytest

from tests.liveness.test_by_definition import (
    BOTH,
    STRONG,
    WEAK,
    Fairness,
    assert_a_run_says_the_same,
    assert_judged_as_the_definitions_say,
)


@pytest.mark.parametrize(("fairness", "graphs"), [(WEAK, 1000), (BOTH, 300), (STRONG, 300)])
def test_random_graphs_are_judged_as_the_definitions_say(fairness: Fairness, graphs: int) -> None:
    assert_judged_as_the_definitions_say(fairness, graphs)


@pytest.mark.parametrize("seed", range(40))
def test_a_run_says_the_same_and_confirms_it(seed: int) -> None:
    assert_a_run_says_the_same(seed)
