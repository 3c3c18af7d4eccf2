"""When the driver starts Spark: where levels are large, and not for a search that ends before."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines import session, spark, spark_session
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import GrowingEngine, engine_for
from waterline.checker.search.engines.java import QUICK_JVM
from waterline.checker.search.engines.shipped_call import Probe
from waterline.checker.search.engines.spark_session import NoSpark, start_context
from waterline.checker.search.engines.spark_side import SparkSide
from waterline.checker.search.engines.workers import DiskWorkers
from waterline.checker.search.search import search
from waterline.checker.storage import run_directory
from waterline.checker.storage.storage import LocalStorage, RemoteStorage
from waterline.model.atomic import AtomicEnvironment
from waterline.model.message.environment import Environment


@pytest.mark.parametrize("frontier", [500, spark.BOOT_FRONTIER])
def test_spark_is_started_by_a_level_of_so_many_states_and_no_smaller_one(
    frontier: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def start(side: SparkSide, *then: Any) -> None:
        started.append("started")

    monkeypatch.setattr(spark, "BOOT_FRONTIER", frontier)
    monkeypatch.setattr(spark, "BOOT_TO_COME", 0)
    monkeypatch.setattr(SparkSide, "start", start)
    problem = problem_for("hw", Environment())
    choice = EngineChoice(name="spark", master="local[2]")
    with closing(engine_for(problem, choice)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert result.distinct == 26_749
    large = [level for level in result.levels if level.states >= frontier]
    assert bool(started) == bool(large) == (frontier == 500)


@pytest.mark.parametrize(
    ("master", "expected"),
    [("local[2]", None), ("spark://127.0.0.1:7077", None), ("spark://10.0.0.1:7077", 12)],
)
def test_spark_takes_no_cores_of_a_search_that_may_end_before_it_is_up(
    master: str, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster of other machines takes none; of 39,919,804 states 76 million are expected."""
    sizes = _sizes_of_40_million()
    started: list[int] = []
    monkeypatch.setattr(SparkSide, "start", lambda side, *then: started.append(depth))
    choice = EngineChoice(name="spark", master=master)
    with closing(spark.SparkWorkers(problem_for("hw", Environment()), choice)) as workers:
        for depth, size in enumerate(sizes):
            workers.is_wanted(depth, size)

    assert started[:1] == ([] if expected is None else [expected])


def test_spark_is_started_for_a_search_that_is_expected_to_be_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first levels of 109,555,576 states: after level 13 their growth promises 248 million."""
    sizes = [1, 6, 36, 207, 1065, 4296, 12375, 26997, 56847, 126120, 264573, 527205, 981768]
    started: list[int] = []
    monkeypatch.setattr(SparkSide, "start", lambda side, *then: started.append(depth))
    choice = EngineChoice(name="spark", master="local[2]")
    with closing(spark.SparkWorkers(problem_for("hw", Environment()), choice)) as workers:
        for depth, size in enumerate([*sizes, 1708359]):
            workers.is_wanted(depth, size)

    assert started == [13]


def _sizes_of_40_million() -> list[int]:
    levels = Path(__file__).parents[1] / "golden/levels.json"
    found: list[int] = json.loads(levels.read_text())[
        "--grain atomic --protocol hw --replicas 3 --epochs 3"
    ]
    return found


def test_levels_are_handed_over_while_more_is_to_come_than_is_visited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The levels of 39,919,804 states, half of which are visited after level 18."""
    sizes = _sizes_of_40_million()
    monkeypatch.setattr(SparkSide, "is_up", True)
    monkeypatch.setattr(SparkSide, "start", lambda side, *then: None)
    problem = problem_for("hw", Environment())
    with closing(spark.SparkWorkers(problem, EngineChoice(name="spark"))) as workers:
        wanted = [workers.is_wanted(depth, size) for depth, size in enumerate(sizes)]

    assert [depth for depth, is_wanted in enumerate(wanted) if is_wanted] == list(range(8, 19))


def test_workers_of_a_cluster_keep_tables_of_110_million_states(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A task holds its new states and a part of its candidates: an owner a core has room."""
    problem = problem_for("hw", AtomicEnvironment(replicas=3, records=3, epochs=3), ["type_ok"])
    monkeypatch.setattr(SparkSide, "start", lambda side, *then: None)
    monkeypatch.setattr(SparkSide, "wait", lambda side: None)
    monkeypatch.setattr(SparkSide, "cores", 2)
    monkeypatch.setattr(SparkSide, "is_local", False)
    monkeypatch.setattr(spark.programs, "make_ready", lambda recipes: None)
    choice = EngineChoice(name="spark", master="spark://127.0.0.1:7077")
    workers = spark.SparkWorkers(problem, choice)
    widest, states = 12_374_709, 109_555_576
    owners = workers.start(LocalStorage(tmp_path), "work", frontier=widest, visited=states - widest)

    assert owners == 2
    assert workers.keep_tables(owners, states // owners)


@pytest.mark.parametrize("master", ["local[2]", "spark://127.0.0.1:7077"])
def test_spark_compiles_fast_wherever_it_runs(
    master: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found: dict[str, str] = {}

    def launch(conf: Any, log: Path) -> None:
        found.update(conf.getAll())
        raise RuntimeError("not here")

    for name in ("use_java", "_set_home"):
        monkeypatch.setattr(spark_session, name, lambda: None)
    monkeypatch.setattr(spark_session, "_set_python_of_workers", lambda on_this_machine: None)
    monkeypatch.setattr(session, "gateway_in_use", lambda: None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.setattr(spark_session, "_gateway", launch)
    monkeypatch.setenv("SPARK_LAUNCHER_OPTS", "")
    with pytest.raises(NoSpark, match="not here"):
        start_context(master, log=tmp_path / "log")

    assert found["spark.driver.extraJavaOptions"] == QUICK_JVM
    assert found["spark.executor.extraJavaOptions"] == QUICK_JVM


def test_ctrl_c_before_spark_has_begun_to_start_leaves_nothing_to_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    side = SparkSide(EngineChoice(name="spark", master="local[2]"), lambda reason: None)
    monkeypatch.setattr(threading.Thread, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        side.start()
    side.close()


def test_a_worker_that_was_probed_is_kept() -> None:
    """Spark keeps it only if its task has read all its input."""
    items = iter(range(3))

    assert len(list(Probe(())(items))) == 1
    assert next(items, None) is None


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
