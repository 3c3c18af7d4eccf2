"""Courses of claims about behaviours against the definitions, on many graphs."""

from __future__ import annotations

from tests.analysis.explain.test_liveness import assert_judged_as_the_definitions_say


def test_random_graphs_are_judged_as_the_definitions_say() -> None:
    assert_judged_as_the_definitions_say(250, 20)
