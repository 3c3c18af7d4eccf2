"""What Spark loses, it makes anew: killed drivers, workers and executors change no count."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pyspark
import pytest

from tests.support.command import (
    checked,
    facts,
    finished,
    killed_after,
    levels_kept,
    python_workers,
    started,
    wait_until,
    wait_until_told,
)
from tests.support.standalone import QUICK_JVM, Standalone, standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SPACE = ("--protocol", "hw")
LOCAL_SPARK = ("--master", "local[2]")


def on_spark(*, after: int) -> tuple[object, ...]:
    """The search, on Spark once this process has explored so many of its 35 levels.

    Each level on Spark costs time: those that a test is about are enough.
    """
    return (*SPACE, *LOCAL_SPARK, "--driver-levels", after)


@pytest.fixture(scope="module")
def undisturbed() -> str:
    return checked(*SPACE, "--engine", "local")[1]


def test_a_killed_driver_is_resumed_on_spark_and_without(tmp_path: Path, undisturbed: str) -> None:
    directory = tmp_path / "run"
    begun = started(*on_spark(after=16), "--partitions", 3, "--run-dir", directory)
    killed_after(19, directory, begun)
    again = ("--resume", directory, *LOCAL_SPARK, "--driver-levels", 4, "--partitions", 2)
    killed_after(23, directory, started(*again))
    kept = levels_kept(directory)

    code, out, _ = checked("--resume", directory, "--engine", "local")

    assert 23 <= kept < 35
    assert code == 12
    assert facts(out) == facts(undisturbed)


def test_killed_python_workers_are_replaced(tmp_path: Path, undisturbed: str) -> None:
    directory = tmp_path / "run"
    run = started(*on_spark(after=20), "--run-dir", directory)
    killed = 0
    for level in (22, 25, 28):
        wait_until(lambda level=level: levels_kept(directory) >= level and python_workers(run), run)
        for worker in python_workers(run):
            worker.kill()
            killed += 1
    code, out, _ = finished(run)

    assert killed > 0
    assert code == 12
    assert facts(out) == facts(undisturbed)


def killed_spark(run: subprocess.Popen[str]) -> None:
    """Kill Spark's own process, once it is there."""

    def jvm() -> list[psutil.Process]:
        found = []
        for process in psutil.Process(run.pid).children(recursive=True):
            # Some end while they are looked at.
            with suppress(psutil.Error):
                if "org.apache.spark.deploy.SparkSubmit" in process.cmdline():
                    found.append(process)
        return found

    wait_until(jvm, run)
    for process in jvm():
        process.kill()


@pytest.mark.parametrize(
    ("after", "levels", "code", "says"),
    [
        (4, 4, 2, "Spark cannot be started on --master local[2]: [JAVA_GATEWAY_EXITED]"),
        (4, 5, 1, "Spark's process, the JVM, is gone at level"),
        (18, 21, 1, "Spark's process, the JVM, is gone at level"),
        (30, None, 1, "Spark's process, the JVM, is gone while reading levels"),
    ],
    ids=["booting", "first level", "later level", "finding traces"],
)
def test_a_killed_spark_is_one_line_and_the_run_goes_on(
    after: int,
    levels: int | None,
    code: int,
    says: str,
    tmp_path: Path,
    undisturbed: str,
) -> None:
    directory = tmp_path / "run"
    run = started(*on_spark(after=after), "--run-dir", directory)
    if levels is None:
        wait_until_told("finding the shortest traces", run)
    else:
        wait_until(lambda: levels_kept(directory) >= levels, run)
    killed_spark(run)
    ended, out, err = finished(run)
    told = err.strip().splitlines()[-1]
    kept = levels_kept(directory)
    resumed, again, _ = checked("--resume", directory, "--engine", "local")

    assert (ended, out) == (code, ""), err
    assert f"error: {says}" in told
    assert f"{kept} levels are kept in {directory}; go on with --resume {directory}" in told
    assert "Traceback" not in err
    assert "Exception" not in err
    assert resumed == 12
    assert facts(again) == facts(undisturbed)


def test_a_killed_spark_that_keeps_nothing_says_so_and_another_is_started(tmp_path: Path) -> None:
    """One process runs both, as a gate does: PySpark would go on with the first one's gateway."""
    program = """
import sys
from checker.search.engines import jvm
from checker.search.engines.spark_session import start_context
from pathlib import Path
for turn in range(2):
    context = start_context("local[1]", log=Path(sys.argv[1]))
    print(context.parallelize([1, 2], 1).sum(), context._gateway.proc.poll(), flush=True)
    context._gateway.proc.kill()
    context._gateway.proc.wait()
    print(jvm.how_it_ended(context._gateway))
    context.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "log"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    ended = "it was killed (SIGKILL, as it is when memory runs out)"
    assert done.stdout.splitlines() == ["3 None", ended, "3 None", ended], done.stderr
    assert done.stderr == ""


def test_a_killed_spark_ends_a_matrix_in_one_line() -> None:
    main = "from checker.cli.cli import main; main()"
    command = ["matrix", "--engine", "spark", "--master", "local[2]"]
    run = subprocess.Popen(
        [sys.executable, "-c", main, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: python_workers(run), run)
    killed_spark(run)
    code, out, err = finished(run)

    assert (code, out) == (1, ""), err
    assert "error: Spark's process, the JVM, is gone at the cells: it was killed" in err
    assert "Traceback" not in err


def test_a_full_disk_under_spark_is_one_line_and_room_lets_it_go_on(
    small_disk: Path, undisturbed: str
) -> None:
    directory = small_disk / "run"
    code, out, err = checked(*on_spark(after=8), "--run-dir", directory)
    told = err.strip().splitlines()[-1]
    kept = levels_kept(directory)
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    resumed, again, _ = checked("--resume", directory, "--engine", "local")

    where = rf"{directory}\S*"
    assert (code, out) == (2, ""), err
    assert re.search(
        rf"error: there is no room left for {where} \(No space left on .+\); free", told
    )
    assert f"{kept} levels are kept in {directory}; go on with --resume {directory}" in told
    assert "Traceback" not in err
    assert resumed == 12
    assert facts(again) == facts(undisturbed)


def test_speculative_tasks_change_nothing(undisturbed: str) -> None:
    eager = {"multiplier": "1.01", "quantile": "0.1", "interval": "5ms", "minTaskRuntime": "1ms"}
    settings = ["spark.speculation=true", *(f"spark.speculation.{k}={v}" for k, v in eager.items())]
    options = [part for setting in settings for part in ("--spark-conf", setting)]
    code, out, _ = checked(*on_spark(after=20), "--partitions", 4, *options)

    assert code == 12
    assert facts(out) == facts(undisturbed)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
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
        f"spark.executor.extraJavaOptions={QUICK_JVM}",
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
from checker.kafka.families import problem_for
from checker.search.engines.choice import EngineChoice
from checker.search.engines.over_files import FileEngine
from checker.search.engines.spark import SparkWorkers
from checker.search.search import Budgets, search
from model.message.environment import Environment
from tests.support.object_store import InObjectStore
from tests.support.standalone import Standalone

url, folder, store = sys.argv[1:]
waits = []
problem = problem_for("hw", Environment())
settings = (("spark.executor.memory", "512m"),)
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
    program = Path(__file__).parents[2] / "checker" / "__main__.py"
    command = [spark / "bin" / "spark-submit", "--master", cluster.url]
    command += ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1"]
    command += ["--conf", f"spark.executor.extraJavaOptions={QUICK_JVM}"]
    command += ["--driver-java-options", QUICK_JVM]
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
