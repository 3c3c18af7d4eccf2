"""Runs under every symmetry say what the runs without say."""

from __future__ import annotations

import pytest

from tests.search.test_symmetric_runs import (
    EVERY_SYMMETRY,
    RUNS,
    UNBROKEN,
    assert_traces_are_those_of_the_whole_space,
    assert_verdicts_are_those_of_the_whole_space,
    left_by_replicas,
)
from waterline.checker.problem.symmetry import Symmetry


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
@pytest.mark.parametrize("name", RUNS)
def test_verdicts_and_least_depths_are_those_of_the_whole_space(
    name: str, symmetry: Symmetry
) -> None:
    assert_verdicts_are_those_of_the_whole_space(name, symmetry)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
@pytest.mark.parametrize("name", sorted(RUNS.keys() - UNBROKEN))
def test_traces_are_as_short_begin_at_a_real_state_and_were_confirmed(
    name: str, symmetry: Symmetry
) -> None:
    assert_traces_are_those_of_the_whole_space(name, symmetry)


def test_replicas_alone_leave_what_tlc_leaves_under_its_symmetry() -> None:
    assert left_by_replicas("kip320") == (123_311, 25)
