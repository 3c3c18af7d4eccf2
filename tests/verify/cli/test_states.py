"""Larger runs as Parquet: what tests/cli/test_states.py asks of small ones."""

from __future__ import annotations

import pytest

from tests.cli.test_states import (
    PROBLEMS,
    test_every_state_is_decoded_as_the_interpreted_model_reads_it,
    test_steps_are_all_transitions_of_the_run,
    test_the_way_back_is_the_path_that_a_trace_would_show,
    test_there_are_as_many_states_at_each_depth_as_the_run_found,
)
from waterline.checker.problem.problem import Problem

__all__ = [
    "test_every_state_is_decoded_as_the_interpreted_model_reads_it",
    "test_steps_are_all_transitions_of_the_run",
    "test_the_way_back_is_the_path_that_a_trace_would_show",
    "test_there_are_as_many_states_at_each_depth_as_the_run_found",
]


@pytest.fixture(params=["message", "message, 3 replicas"])
def problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]()
