"""Recovery and liveness on Spark, whose tasks take out what is to be judged: the same lassos."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from tests.support.labelled_graph import ALWAYS_EVENTUALLY, BACK, BEYOND, LEADS_TO, labelled_problem
from tests.support.own import example
from waterline.checker.checking.liveness import judge_behaviours
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.counterexamples import to_json
from waterline.model.message.environment import DOCUMENTED

pytestmark = pytest.mark.spark

FAIR_A, FAIR_B, _, FREE_A, FREE_B = range(5)
Outcome = tuple[list[Any], list[str], list[str]]


def judged(problem: Problem, engine: Any) -> tuple[Outcome, set[str]]:
    """Verdicts, traces and explanations; and who had which level."""
    with closing(engine):
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result)
    traces = [to_json(finding.replayed.trace) for finding in findings]
    told = list(result.invariants), traces, [finding.explanation for finding in findings]
    return told, {level.on for level in result.levels}


def on_spark(problem: Problem, context: Any, driver_levels: int) -> Any:
    choice = EngineChoice(session=context, partitions=2, driver_levels=driver_levels)
    return engine_for(problem, choice)


def tiny_graph() -> Problem:
    """A diamond; behind it a fair cycle and one with a fair way out; a self-loop, and two cuts."""
    edges = {
        (0, FREE_A): 1,
        (0, FAIR_A): 2,
        (1, FAIR_A): 3,
        (2, FAIR_A): 3,
        (3, FAIR_A): 4,
        (4, FREE_A): 3,
        (4, FAIR_B): 4,
        (3, FREE_B): 5,
        (5, FREE_A): 6,
        (6, FREE_A): 5,
        (5, FAIR_B): 7,
        (6, FAIR_B): 7,
        (2, FREE_B): BEYOND,
        (6, FREE_B): BEYOND,
    }
    return labelled_problem(edges, q=[7], p=[1, 2, 4], claims=(BACK, ALWAYS_EVENTUALLY, LEADS_TO))


def kafka(version: str, claims: list[str], **options: int) -> Problem:
    """A cell of docs/results/recovery.md with one record."""
    bounds = {"records": 1, **{name.replace("_", "-"): value for name, value in options.items()}}
    return MESSAGE.problem(version, {**DOCUMENTED.options(), **bounds}, claims)


def test_both_engines_come_to_the_same_lasso(spark_context: Any) -> None:
    problem = example("philosophers", tie_break=False)
    here, _ = judged(problem, MemoryEngine(problem, threads=1))
    there, by = judged(problem, on_spark(problem, spark_context, 3))

    assert len(here[1]) == 5
    assert there == here
    assert by == {"driver", "spark"}


@pytest.mark.parametrize(
    ("problem", "driver_levels", "findings"),
    [
        (tiny_graph(), 0, 3),
        (kafka("hw", ["logs_agree_again", "decisions_learned"], min_insync_replicas=2), 26, 2),
        (kafka("kip320", ["leader_again", "truncation_ends"], epochs=1, restarts=1), 12, 0),
    ],
    ids=["tiny", "violated", "holds"],
)
def test_graphs_and_cells_of_kafka_have_the_same_verdicts(
    problem: Problem, driver_levels: int, findings: int, spark_context: Any
) -> None:
    here, _ = judged(problem, MemoryEngine(problem, threads=1))
    engine = on_spark(problem, spark_context, driver_levels)
    there, by = judged(problem, engine)

    assert there == here
    assert len(here[1]) == findings
    assert "spark" in by
