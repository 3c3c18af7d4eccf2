"""Executors of a cluster: what is lost with them is made anew; they run what is shipped to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyspark
import pytest

from tests.support.class_archive import quick_jvm
from tests.support.command import (
    checked,
    facts,
    finished,
    levels_kept,
    started,
    wait_until,
)
from tests.support.standalone import Standalone, standalone

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("class_archive")]

ROOT = Path(__file__).parents[3]
SPACE = ("--protocol", "hw")


@pytest.fixture(scope="module")
def undisturbed() -> str:
    return checked(*SPACE, "--engine", "local")[1]


@pytest.fixture(scope="module")
def cluster(class_archive: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Two workers of one core each."""
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without any package: executors get PySpark's own from Spark."""
    directory = tmp_path_factory.mktemp("bare")
    venv.create(directory, with_pip=False)
    python = directory / "bin" / "python"
    lacks = subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False)
    assert lacks.returncode != 0
    return python


def on(cluster: Standalone, *, after: int) -> tuple[object, ...]:
    settings = (
        "spark.executor.memory=512m",
        f"spark.executor.extraJavaOptions={quick_jvm()}",
    )
    options = [part for setting in settings for part in ("--spark-conf", setting)]
    return ("--master", cluster.url, "--driver-levels", after, *options)


def listened_at(run: subprocess.Popen[str]) -> set[str]:
    """The addresses at which a process or one that it started waits for others."""
    processes = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
    connections = [each for process in processes for each in process.net_connections("inet")]
    return {
        each.laddr.ip.removeprefix("::ffff:") for each in connections if each.status == "LISTEN"
    }


def test_killed_executors_cost_their_tasks_and_other_machines_cannot_reach_the_driver(
    cluster: Standalone, tmp_path: Path, undisturbed: str
) -> None:
    """The master is on loopback. Two claims in one test: to start executors takes long."""
    directory = tmp_path / "run"
    run = started(*SPACE, *on(cluster, after=24), "--run-dir", directory)
    wait_until(lambda: levels_kept(directory) >= 26, run)
    addresses = listened_at(run)
    os.kill(cluster.executors()[0], signal.SIGKILL)
    wait_until(lambda: levels_kept(directory) >= 29, run)
    for executor in cluster.executors():
        os.kill(executor, signal.SIGKILL)
    code, out, err = finished(run)

    assert code == 12, err
    assert facts(out) == facts(undisturbed)
    assert addresses == {"127.0.0.1"}


IN_OBJECT_STORE = """
import json, os, signal, sys
from contextlib import closing
from pathlib import Path
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.search.engines.spark import SparkWorkers
from waterline.checker.search.search import Budgets, search
from waterline.model.message.environment import Environment
from tests.support.class_archive import quick_jvm
from tests.support.object_store import InObjectStore
from tests.support.standalone import Standalone

url, folder, store = sys.argv[1:]
waits = []
problem = problem_for("hw", Environment())
settings = (
    ("spark.executor.memory", "512m"),
    ("spark.executor.extraJavaOptions", quick_jvm()),
)
workers = SparkWorkers(problem, EngineChoice(master=url, settings=settings), on_wait=waits.append)
levels = InObjectStore(problem.model.layout.words, Path(store))

def watch(snapshot):
    if snapshot.depth == 6:
        for executor in Standalone(url, Path(folder)).executors():
            os.kill(executor, signal.SIGKILL)

with closing(FileEngine(problem, workers, levels, owners=2)) as engine:
    result = search(problem, engine, budgets=Budgets(max_depth=10), watch=watch)
print(json.dumps([[level.states for level in result.levels], waits]))
"""
"""A search whose candidates pass through Spark's shuffle, of which executors keep a part."""


def test_what_a_shuffle_loses_with_executors_is_made_anew(
    cluster: Standalone, tmp_path: Path, undisturbed: str
) -> None:
    arguments = (sys.executable, "-c", IN_OBJECT_STORE, cluster.url, cluster.directory, tmp_path)
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=ROOT)
    sizes, waits = json.loads(done.stdout)

    assert sizes == json.loads(undisturbed)["levels"][: len(sizes)]
    assert len(sizes) == 11
    assert any("making them anew" in wait for wait in waits)


def test_executors_need_python_alone_and_a_run_goes_on_without_the_cluster(
    cluster: Standalone, bare_python: Path, tmp_path: Path, undisturbed: str
) -> None:
    directory = tmp_path / "run"
    code, _, err = checked(
        *SPACE,
        *on(cluster, after=4),
        *("--run-dir", directory, "--max-depth", 8),
        PYSPARK_PYTHON=str(bare_python),
        WATERLINE_CACHE=str(tmp_path / "cache"),
    )
    resumed, out, _ = checked("--resume", directory, "--engine", "local")

    assert code == 20, err
    assert "to the executors: waterline, numpy, llvmlite" in err
    assert resumed == 12
    assert facts(out) == facts(undisturbed)


def test_spark_submit_decides_about_the_master(
    cluster: Standalone, tmp_path: Path, undisturbed: str
) -> None:
    spark = Path(pyspark.__file__).parent
    program = Path(__file__).parents[3] / "waterline" / "__main__.py"
    command = [spark / "bin" / "spark-submit", "--master", cluster.url]
    command += ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1"]
    command += ["--conf", f"spark.executor.extraJavaOptions={quick_jvm()}"]
    command += ["--driver-java-options", quick_jvm()]
    command += ["--conf", "spark.driver.bindAddress=127.0.0.1", program, *SPACE]
    command += ["--driver-levels", 30, "--format", "json"]
    environment = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment, "TMPDIR": str(tmp_path)},
    )

    assert done.returncode == 12, done.stderr
    # spark-submit sends a program's standard error to its own standard output.
    assert facts(done.stdout[done.stdout.index("{") :]) == facts(undisturbed)
