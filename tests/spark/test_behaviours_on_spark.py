"""Recovery and liveness on Spark, whose tasks take out what is to be judged: the same lassos."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from own import example

from checker.behaving import judge_behaviours
from checker.engines.choice import EngineChoice
from checker.engines.chosen import engine_for
from checker.engines.memory import MemoryEngine
from checker.search import search
from counterexamples import to_json

pytestmark = pytest.mark.spark


def test_both_engines_come_to_the_same_lasso(spark_context: Any) -> None:
    problem = example("philosophers", tie_break=False)
    outcomes = []
    for engine in (
        MemoryEngine(problem, threads=1),
        engine_for(problem, EngineChoice(session=spark_context, partitions=2, driver_levels=3)),
    ):
        with closing(engine):
            result = search(problem, engine)
            findings = judge_behaviours(problem, engine, result)
        traces = [to_json(finding.replayed.trace) for finding in findings]
        outcomes.append((result.invariants, traces, [each.explanation for each in findings]))

    assert len(outcomes[0][1]) == 5
    assert outcomes[0] == outcomes[1]
    assert {level.on for level in result.levels} == {"driver", "spark"}
