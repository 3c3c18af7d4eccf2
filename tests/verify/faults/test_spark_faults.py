"""What Spark loses, it makes anew: killed drivers, workers and executors change no count."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.command import (
    CHECK,
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

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("class_archive")]

SPACE = ("--protocol", "hw")
SAYING_ALL = f"from waterline.checker.checking import run; run._LONG_SECONDS = 0.0; {CHECK[-1]}"
"""The command, which says what follows a search however short that was."""
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
    run = started(*on_spark(after=after), "--run-dir", directory, program=SAYING_ALL)
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
from waterline.checker.search.engines import java
from waterline.checker.search.engines.spark_session import start_context
from pathlib import Path
for turn in range(2):
    context = start_context("local[1]", log=Path(sys.argv[1]))
    print(context.parallelize([1, 2], 1).sum(), context._gateway.proc.poll(), flush=True)
    context._gateway.proc.kill()
    context._gateway.proc.wait()
    print(java.how_it_ended(context._gateway))
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
    main = "from waterline.checker.cli.cli import main; main()"
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
    (small_disk / "filler").write_bytes(bytes(250 << 10))
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
