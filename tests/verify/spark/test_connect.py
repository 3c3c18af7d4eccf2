"""Searches on Spark Connect, which has data frames alone, against a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import checked, facts, finished, levels_kept, started, wait_until
from tests.support.standalone import Standalone, connect_server, standalone

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("class_archive")]

ROOT = Path(__file__).parents[3]
SPACE = ("--protocol", "hw")
NO_SERVER = "sc://127.0.0.1:9"


@pytest.fixture(scope="module")
def undisturbed() -> str:
    return checked(*SPACE, "--engine", "local")[1]


@pytest.fixture(scope="module")
def cluster(class_archive: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Two workers of one core each."""
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def server(cluster: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose executors are processes."""
    with connect_server(tmp_path_factory.mktemp("connect"), cluster.url) as (url, _):
        yield url


def test_killed_executors_cost_their_tasks_alone(
    server: str, cluster: Standalone, tmp_path: Path, undisturbed: str
) -> None:
    directory = tmp_path / "run"
    options = ("--master", server, "--driver-levels", 20, "--run-dir", directory)
    run = started(*SPACE, *options)
    wait_until(lambda: levels_kept(directory) >= 23, run)
    for executor in cluster.executors():
        os.kill(executor, signal.SIGKILL)
    code, out, err = finished(run)

    assert code == 12, err
    assert facts(out) == facts(undisturbed)
    assert "spark" in str(json.loads(out)["explored_on"])


def test_a_deadline_interrupts_the_level_and_the_run_goes_on_without_spark(
    server: str, tmp_path: Path, undisturbed: str
) -> None:
    directory = tmp_path / "run"
    options = ("--run-dir", directory)
    code, _, err = checked(
        *SPACE, *options, "--master", server, "--driver-levels", 2, "--max-time", 3
    )
    assert code == 20, err

    code, out, err = checked("--resume", directory, "--engine", "local")
    assert code == 12, err
    assert facts(out) == facts(undisturbed)


SESSION = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.environment import Environment

spark = SparkSession.builder.remote(sys.argv[1]).create()
choice = EngineChoice(name="spark", session=spark, driver_levels=6)
done = run(problem_for("hw", Environment(records=1)), choice)
print(json.dumps([done.result.distinct, spark.range(3).count()]))
"""


def test_a_session_that_runs_already_is_used_and_left_running(server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSION, server],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    local = json.loads(checked(*SPACE, "--records", 1, "--engine", "local")[1])

    assert json.loads(done.stdout) == [local["distinct"], 3]


def test_walks_find_there_what_they_find_here(server: str) -> None:
    waterline = str(Path(sys.executable).with_name("waterline"))
    walks = [waterline, "simulate", *SPACE, "--walks", "200", "--seed", "7", "--format", "json"]
    here = subprocess.run([*walks, "--engine", "local"], capture_output=True, check=False)
    on_spark = ["--engine", "spark", "--master", server]
    there = subprocess.run([*walks, *on_spark], capture_output=True, check=False)

    assert (there.returncode, without_times(there)) == (here.returncode, without_times(here))


def without_times(done: subprocess.CompletedProcess[bytes]) -> str:
    """The report, but for numbers of seconds, the engine and bytes."""
    kept = [
        line
        for line in done.stdout.decode().splitlines()
        if not any(name in line for name in ("second", "engine", "bytes"))
    ]
    assert kept, done.stderr.decode()
    return "\n".join(kept)


def test_an_address_without_a_server_is_one_line() -> None:
    code, _, err = checked(*SPACE, "--master", NO_SERVER, "--driver-levels", 2)

    assert code == 2
    assert err.splitlines()[-1].startswith(
        f"error: no session of Spark Connect at {NO_SERVER}: failed to connect"
    )


RAISING = """
from waterline import Fields, Number, Protocol, when


class State(Fields):
    at = Number(0, 5)


def raising(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[UNAVAILABLE], always=[low])


def UNAVAILABLE(s: State) -> None:
    s.at += 1


def low(s: State) -> bool:
    return s.at <= 9
"""


def test_an_error_of_a_rule_is_no_end_of_the_server(server: str, tmp_path: Path) -> None:
    (tmp_path / "raising.py").write_text(RAISING)
    options = ("--model", tmp_path / "raising.py", "--run-dir", tmp_path / "run")
    code, _, err = checked(*options, "--master", server, "--driver-levels", 2)

    assert code == 76, err
    assert "s.at cannot be 6" in err


def test_a_certificate_is_judged_as_here(server: str, tmp_path: Path) -> None:
    kept = tmp_path / "certificate"
    checked(*SPACE, "--records", 1, "--engine", "local", "--certificate", kept)
    waterline = str(Path(sys.executable).with_name("waterline"))
    here, there = (
        subprocess.run(
            [waterline, "certify", kept, *where], capture_output=True, text=True, check=False
        )
        for where in (("--engine", "local"), ("--engine", "spark", "--master", server))
    )

    assert there.returncode == here.returncode == 0, there.stderr
    assert there.stdout.splitlines()[:-1] == here.stdout.splitlines()[:-1]
    assert sorted(path.name for path in kept.iterdir()) == ["certificate.json", "states.parquet"]


def test_a_server_that_is_killed_ends_the_run_which_can_go_on_elsewhere(
    tmp_path: Path, undisturbed: str
) -> None:
    directory = tmp_path / "run"
    with connect_server(tmp_path, "local[1]") as (url, process):
        run = started(*SPACE, "--master", url, "--driver-levels", 5, "--run-dir", directory)
        wait_until(lambda: levels_kept(directory) >= 7, run)
        process.send_signal(signal.SIGKILL)
        code, out, err = finished(run)
    assert code == 1, (out, err)
    assert "does not answer any more" in err
    assert "--resume" in err

    code, out, err = checked("--resume", directory, "--engine", "local")
    assert (code, facts(out)) == (12, facts(undisturbed)), err
