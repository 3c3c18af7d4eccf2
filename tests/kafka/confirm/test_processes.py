"""Processes are ended whatever happens. `java` is a shell script here."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm
from waterline.checker.kafka.confirm.processes import Processes, find_java
from waterline.checker.kafka.confirm.zookeeper import _has_read

SLEEPS = "exec sleep 300"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What runs as Java: a script, to be written by the test."""
    program = tmp_path / "home" / "bin" / "java"
    program.parent.mkdir(parents=True)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    write(program, SLEEPS)
    return program


def write(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def is_alive(number: int) -> bool:
    return psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE


def test_a_failure_leaves_no_process(java: Path, folder: Path) -> None:
    numbers = []

    def fail() -> None:
        with Processes(folder, []) as processes:
            for name in ("r0", "r1"):
                processes.start(name, "Main")
                numbers.append(processes.identity(name))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert not any(map(is_alive, numbers))


@pytest.fixture
def usual_interrupt() -> Iterator[None]:
    """A job in the background of a shell inherits SIGINT ignored, and Python then leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_process_is_started_is_raised_once_it_is_known(
    number: signal.Signals, java: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen = subprocess.Popen
    started = []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        process = popen(*arguments, **options)
        started.append(process.pid)
        signal.raise_signal(number)
        return process

    def start() -> None:
        with ending_as_by_ctrl_c(), Processes(folder, []) as processes:
            monkeypatch.setattr(subprocess, "Popen", interrupted)
            processes.start("r0", "Main")

    with pytest.raises(KeyboardInterrupt):
        start()

    assert len(started) == 1
    assert not is_alive(started[0])


@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_raised_after_all(java: Path, folder: Path) -> None:
    went_on = []
    before = signal.getsignal(signal.SIGINT)

    class Dropping:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def work(processes: Processes) -> None:
        processes.start("zookeeper", "Main")
        thing = Dropping()
        del thing
        went_on.append("after the interrupt")
        processes.require("zookeeper")
        went_on.append("after a look at a process")

    processes = Processes(folder, [])
    with pytest.raises(KeyboardInterrupt), processes:
        work(processes)

    assert went_on == ["after the interrupt"]
    assert signal.getsignal(signal.SIGINT) is before
    assert not processes.runs("zookeeper")


def test_an_interrupt_that_a_library_takes_for_an_error_of_its_own_is_raised(folder: Path) -> None:
    """Kazoo's `send` catches whatever is raised in it, and says that the connection is closed."""

    def send() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            raise ConnectionError("the connection is closed") from None

    with pytest.raises(KeyboardInterrupt), ending_as_by_ctrl_c(), Processes(folder, []):
        send()


def test_a_process_that_stands_still_is_ended_too(java: Path, folder: Path) -> None:
    with Processes(folder, []) as processes:
        processes.start("r0", "Main")
        number = processes.identity("r0")
        processes.pause("r0")

    assert not is_alive(number)


def test_a_killed_process_runs_no_more_and_can_be_started_again(java: Path, folder: Path) -> None:
    with Processes(folder, []) as processes:
        processes.start("r0", "Main")
        processes.kill("r0")
        after = processes.runs("r0")
        processes.start("r0", "Main")

        assert not after
        assert processes.runs("r0")


def test_a_process_that_ended_by_itself_is_told_with_its_last_lines(
    java: Path, folder: Path
) -> None:
    write(java, "for i in 1 2 3 4 5 6; do echo line $i; done")
    with Processes(folder, []) as processes:
        processes.start("r0", "Main")
        psutil.wait_procs([psutil.Process(processes.identity("r0"))], timeout=10)

        with pytest.raises(BrokerFailed, match=r"r0 has ended by itself; .* line 2 \| .*line 6"):
            processes.require("r0")


def test_a_tool_that_fails_is_told(java: Path, folder: Path) -> None:
    write(java, "echo wrong; exit 1")

    with pytest.raises(BrokerFailed, match="Tool failed: wrong"):
        Processes(folder, []).run("Tool")


def test_without_java_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with pytest.raises(CannotConfirm, match="brokers need Java, and there is none"):
        find_java()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has the call")
def test_brokers_die_with_a_harness_that_is_killed(java: Path, folder: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from waterline.checker.kafka.confirm.processes import Processes\n"
        "processes = Processes(Path(sys.argv[1]), [])\nprocesses.start('r0', 'Main')\n"
        "print(processes.identity('r0'), flush=True)\ntime.sleep(300)\n"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert harness.stdout is not None
    broker = psutil.Process(int(harness.stdout.readline()))
    harness.kill()
    harness.communicate()
    began = time.monotonic()
    gone, _ = psutil.wait_procs([broker], timeout=10)

    assert gone or broker.status() == psutil.STATUS_ZOMBIE
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("said", "has_read"),
    [
        ("", False),
        ("zookeeper.version=3.4.9-1\n", False),
        ("zookeeper.version=3.4.9-1\nbinding to port 127.0.0.1/127.0.0.1:1234\n", True),
        ("zookeeper.version=3.8.4\nbinding to port 127.0.0.1/127.0.0.1:1234\n", False),
        ("zookeeper.version=3.8.4\nSnapshotting: 0x0 to snapshot.0\n", True),
    ],
)
def test_nobody_connects_to_zookeeper_before_it_has_read_its_data(
    said: str, has_read: bool
) -> None:
    assert _has_read(said) is has_read
