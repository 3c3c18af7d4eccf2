"""When the driver starts Spark: where levels are large, and not for a search that ends before."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines import spark
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import GrowingEngine, engine_for
from waterline.checker.search.engines.spark_session import NoSpark
from waterline.checker.search.engines.spark_side import SparkSide
from waterline.checker.search.engines.workers import DiskWorkers
from waterline.checker.search.search import search
from waterline.checker.storage import run_directory
from waterline.checker.storage.storage import RemoteStorage
from waterline.model.message.environment import Environment


@pytest.mark.parametrize("frontier", [500, spark.BOOT_FRONTIER])
def test_spark_is_started_by_a_level_of_so_many_states_and_no_smaller_one(
    frontier: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def start(side: SparkSide, *then: Any) -> None:
        started.append("started")

    monkeypatch.setattr(spark, "BOOT_FRONTIER", frontier)
    monkeypatch.setattr(SparkSide, "start", start)
    problem = problem_for("hw", Environment())
    choice = EngineChoice(name="spark", master="local[2]")
    with closing(engine_for(problem, choice)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert result.distinct == 26_749
    large = [level for level in result.levels if level.states >= frontier]
    assert len(started) == len(large)
    assert bool(large) == (frontier == 500)


def test_memory_bounds_the_driver_also_where_it_explores_over_files() -> None:
    choice = EngineChoice(name="spark", master="local[2]")
    with closing(
        engine_for(problem_for("hw", Environment()), choice, memory_bytes=10**8)
    ) as engine:
        assert isinstance(engine, GrowingEngine)
        helpers = engine._over_files._others
        assert isinstance(helpers, DiskWorkers)
        assert helpers.memory_bytes == 10**8


def test_spark_connect_refuses_an_object_store_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_for("hw", Environment())
    store = RemoteStorage(f"file://{tmp_path}")
    monkeypatch.setattr(run_directory, "storage_at", lambda location, durable: store)
    directory = run_directory.begin("s3://bucket", {}, problem.model.layout.words)
    choice = EngineChoice(name="spark", master="sc://127.0.0.1:9")

    with closing(directory), pytest.raises(NoSpark, match="--run-dir must be a folder there"):
        engine_for(problem, choice, directory=directory)
