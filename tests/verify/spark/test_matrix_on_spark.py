"""A grid as one job on Spark gives what threads of one process give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.grids import SMALL, TINY, explored, small_matrix, without_engine
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.question import UNWATCHED, Question
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.files import to_object
from waterline.checker.search.engines import spark_side
from waterline.checker.search.engines.engine import EngineChoice, EngineFailed
from waterline.checker.search.result import Budgets
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark


def test_spark_says_what_local_says(spark_context: Any) -> None:
    on_spark = explored(SMALL, EngineChoice(name="spark", session=spark_context))

    assert without_engine(to_object(on_spark)) == without_engine(to_object(small_matrix()))


def test_a_grid_is_one_job_of_a_task_for_each_cell(
    spark_context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_side, "uuid4", lambda: "one-job")
    tracker = spark_context.statusTracker()
    explored(TINY, EngineChoice(name="spark", session=spark_context))

    [job] = tracker.getJobIdsForGroup("waterline-one-job")
    [stage] = tracker.getJobInfo(job).stageIds
    assert tracker.getStageInfo(stage).numTasks == len(list(TINY.cells()))


def test_what_fails_on_an_executor_is_told_in_one_line(spark_context: Any) -> None:
    budgets = Budgets(max_states="few")  # type: ignore[arg-type]
    nonsense = Question(MESSAGE.problem("hw", Environment()), budgets)
    choice = EngineChoice(name="spark", session=spark_context)

    with (
        exploring(choice) as explorer,
        pytest.raises(EngineFailed, match="'>=' not supported") as failed,
    ):
        explorer([nonsense], UNWATCHED)

    assert "\n" not in str(failed.value)
    assert "Traceback" not in str(failed.value)
