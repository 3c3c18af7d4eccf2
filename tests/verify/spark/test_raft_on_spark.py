"""Raft breaks on Spark as it does locally, when voters do not compare logs."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from tests.support.own import example
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Budgets
from waterline.checker.search.search import search
from waterline.counterexamples import to_json

pytestmark = pytest.mark.spark
DRIVER_LEVELS = 7
"""The last levels are left for Spark, and the step that breaks the claim."""


def test_a_rule_that_is_taken_out_is_missed_on_spark_too(spark_context: Any) -> None:
    problem = example("raft", entries=1, voters_compare_logs=False)
    choice = EngineChoice(session=spark_context, partitions=2, driver_levels=DRIVER_LEVELS)
    outcomes = []
    for engine in (MemoryEngine(problem, threads=1), engine_for(problem, choice)):
        with closing(engine):
            result = search(problem, engine, budgets=Budgets(stop_at_first=True))
            found = counterexamples_of(problem, engine, result)
        traces = [to_json(finding.replayed.trace) for finding in found]
        levels = [level.states for level in result.levels]
        outcomes.append((levels, result.generated, result.invariants, traces))
    on_spark = [level.depth for level in result.levels if level.on == "spark"]

    assert on_spark
    assert [claim.depth for claim in result.violated] == [9]
    assert outcomes[0] == outcomes[1]
