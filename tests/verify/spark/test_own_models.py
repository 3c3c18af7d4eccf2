"""A model of one's own on Spark: workers are sent its text, and find what is found here."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.own import EXAMPLES, own_problem
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.search.engines.engine import EngineChoice, EngineFailed
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.spark import SparkWorkers
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.counterexamples import to_json

pytestmark = pytest.mark.spark
DRIVER_LEVELS = 4
"""The first few are small, and a level on Spark takes as long whatever it has."""


def facts(result: Result) -> tuple[object, ...]:
    return (
        [level.states for level in result.levels],
        result.generated,
        result.fired,
        result.cut,
        result.invariants,
        result.reachable,
        result.complete,
    )


@pytest.mark.parametrize(
    ("name", "symmetry", "bounds", "states"),
    [
        ("two_phase_commit", "none", {}, 288),
        ("die_hard", "none", {}, 16),
        ("raft", "server", {"terms": 1}, 382),
        ("kraft_log", "none", {"epochs": 1}, 3_926),
    ],
    ids=str,
)
def test_both_engines_say_the_same(
    name: str,
    symmetry: str,
    bounds: dict[str, int],
    states: int,
    spark_context: Any,
    tmp_path: Path,
) -> None:
    file = Path(shutil.copy(EXAMPLES / f"{name}.py", tmp_path))
    problem = own_problem(file, symmetry, **bounds)
    file.unlink()
    outcomes = []
    for engine in (
        MemoryEngine(problem, threads=1),
        engine_for(
            problem, EngineChoice(session=spark_context, partitions=2, driver_levels=DRIVER_LEVELS)
        ),
    ):
        with closing(engine):
            result = search(problem, engine)
            found = counterexamples_of(problem, engine, result)
        traces = [to_json(finding.replayed.trace) for finding in found]
        outcomes.append((facts(result), traces))

    assert result.distinct == states
    assert outcomes[0] == outcomes[1]


def test_a_worker_with_other_rules_ends_the_run_in_one_line(
    spark_context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a module that the rules import is another one on the cluster."""
    monkeypatch.setattr(SparkWorkers, "rules", "those of the driver")
    problem = own_problem(EXAMPLES / "two_phase_commit.py")
    choice = EngineChoice(session=spark_context, partitions=2, driver_levels=DRIVER_LEVELS)
    with (
        closing(engine_for(problem, choice)) as engine,
        pytest.raises(EngineFailed, match="OtherRules: a worker has other rules of") as failed,
    ):
        search(problem, engine)

    assert "\n" not in str(failed.value)
