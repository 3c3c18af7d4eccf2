"""Walks on Spark are those that threads make."""

from __future__ import annotations

from typing import Any

import pytest

from waterline.checker.analysis.simulate.simulation import Wanted, simulate
from waterline.checker.analysis.simulate.walker import Plan
from waterline.checker.cli.simulating import document
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.family import words_of
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("stop_at_first", [False, True])
def test_the_same_walks_see_the_same(spark_context: Any, stop_at_first: bool) -> None:
    problem = problem_for("hw", Environment())
    plan = Plan(seed=5, outside=words_of(problem).outside)
    wanted = Wanted(walks=9_000, stop_at_first=stop_at_first)
    found = []
    for choice in (EngineChoice(name="local"), EngineChoice(session=spark_context)):
        told = document(simulate(problem, choice, plan, wanted))
        found.append({n: v for n, v in told.items() if "seconds" not in n and n != "engine"})

    assert found[0] == found[1]
    assert (found[0]["walks"] < 9_000) == stop_at_first
