"""One attempt at a run: a process that is ready to go, forked from one that has loaded everything.

Loading takes seconds and says nothing here; so it is done once, and each attempt costs what it
explores. What is forked runs the command itself, with its arguments, its output and its exit code.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lab.fuzz.faults.dying import Death, Disk
from lab.fuzz.faults.in_tasks import Disturbed, TaskFault
from lab.fuzz.faults.places import Place, Strike
from waterline.checker.cli.cli import check_main
from waterline.checker.search.engines import memory, over_files, spark, workers

PATIENCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal so long after the beginning; a stopped process goes on after as long again."""

    number: signal.Signals
    after_seconds: float

    def __str__(self) -> str:
        return f"{self.number.name} after {self.after_seconds:.3f} s"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes on Spark, so small that small spaces do what large ones do.

    Bytes of a part of candidates, states sent that a worker keeps, states that a table may have.
    """

    part_bytes: int
    sent_rows: int
    table_states: int

    def __str__(self) -> str:
        return f"parts of {self.part_bytes}, {self.sent_rows} sent, tables of {self.table_states}"

    def set(self) -> None:
        """In a forked process: have Spark's driver plan with them."""
        over_files.PART_BYTES = self.part_bytes
        spark.SparkWorkers.sent_rows = self.sent_rows
        keeps = spark.SparkWorkers.keep_tables

        def keep_tables(engine: spark.SparkWorkers, owners: int, states: int) -> bool:
            return states <= self.table_states and keeps(engine, owners, states)

        spark.SparkWorkers.keep_tables = keep_tables  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Arguments of `check`, and what disturbs it.

    From `files_from` states on it explores over files, which spill candidates at once;
    None: only where its options say so. On Spark it explores at its `place` and with its `sizes`.
    """

    arguments: tuple[str, ...]
    death: Death | None = None
    signal: Signal | None = None
    files_from: int | None = None
    place: Place | None = None
    sizes: Sizes | None = None
    strike: Strike | None = None
    fault: TaskFault | None = None
    run: Path | None = None

    def __str__(self) -> str:
        text = " ".join(self.arguments)
        if self.files_from is not None:
            text += f" [over files from {self.files_from} states]"
        if self.place is not None:
            text += f" [on {self.place.name}: {self.sizes}]"
        disturbances = (self.death, self.signal, self.strike, self.fault)
        return f"{text} [{'; '.join(str(each) for each in disturbances if each) or 'in peace'}]"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and what it printed.

    `met` says which disturbances beside its own end came to pass.
    """

    code: int
    out: str
    err: str
    calls: int = 0
    met: tuple[str, ...] = ()


class Started:
    """An attempt under way."""

    def __init__(self, attempt: Attempt) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="attempt-"))
        place = attempt.place.arguments() if attempt.place else ()
        sys.stdout.flush()
        begun, ready = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become(attempt, place, self._folder, ready)
        os.close(ready)
        os.read(begun, 1)  # A signal before the command begins would say nothing of it.
        os.close(begun)

    def wait(self) -> Ended:
        """Until it has ended, and all that it started with it."""
        until = time.monotonic() + PATIENCE_SECONDS
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"process {self.pid} does not end")
            time.sleep(0.002)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        text = {name: (self._folder / name).read_text() for name in ("out", "err")}
        calls = self._folder / "calls"
        counted = int(calls.read_text() or 0) if calls.exists() else 0
        met = tuple(path.name for path in (self._folder / "met").glob("*"))
        shutil.rmtree(self._folder)
        return Ended(os.waitstatus_to_exitcode(status), text["out"], text["err"], counted, met)

    def send(self, number: signal.Signals) -> None:
        """A signal to the command itself; a kill takes what it started, too, as a reboot does."""
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)


def undergone(attempt: Attempt) -> Ended:
    """The attempt from beginning to end, disturbed as it says."""
    started = Started(attempt)
    if attempt.signal is not None:
        disturb(started, attempt.signal)
    ended = started.wait()
    if attempt.place is not None and "Spark hit" in ended.met:
        attempt.place.await_end()
    return ended


def disturb(started: Started, disturbance: Signal) -> None:
    """Send a signal when its time has come."""
    time.sleep(disturbance.after_seconds)
    started.send(disturbance.number)
    if disturbance.number == signal.SIGSTOP:
        time.sleep(disturbance.after_seconds)
        started.send(signal.SIGCONT)


def orphans() -> list[psutil.Process]:
    """What ended attempts have left running."""
    return [each for each in psutil.Process().children(recursive=True) if each.is_running()]


def _become(attempt: Attempt, place: tuple[str, ...], folder: Path, ready: int) -> None:
    """In the child: run the command. Never returns."""
    code = 1
    try:
        os.setsid()
        for number, name in ((1, "out"), (2, "err")):
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT)
            os.dup2(handle, number)
        # Whoever forks may have put other objects in the place of these.
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.argv = ["check", *attempt.arguments, *place, "--format", "json"]
        if attempt.files_from is not None:
            _go_over_files(attempt.files_from)
        if attempt.place is not None:
            _go_on_spark(attempt, attempt.place, folder / "met")
        counting = Disk(attempt.death, _striker(attempt, folder / "met"))
        counting.install()
        os.close(ready)
        try:
            check_main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        (folder / "calls").write_text(str(counting.calls))
    except BaseException as unexpected:
        print(f"Traceback: {unexpected!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _go_over_files(states: int) -> None:
    """Take memory for outgrown so early that small spaces do what large ones do."""
    workers.HELD_SHARE = 1 << 40

    def is_too_large(engine: memory.MemoryEngine) -> bool:
        return engine.visited.count >= states

    memory.MemoryEngine._is_too_large = is_too_large  # type: ignore[method-assign, assignment]


def _go_on_spark(attempt: Attempt, place: Place, met: Path) -> None:
    """Explore at a place, with sizes and a fault in a task."""
    place.enter()
    if attempt.sizes is not None:
        attempt.sizes.set()
    fault = attempt.fault
    if fault is not None:
        from pyspark import cloudpickle  # noqa: PLC0415 - an extra

        cloudpickle.register_pickle_by_value(sys.modules[Disturbed.__module__])
        undisturbed, made = spark.FileTask, [0]

        def task(*given: Any) -> Any:
            made[0] += 1
            one = undisturbed(*given)
            marks = met / f"a task, {fault.how}"
            return Disturbed(one, fault, marks) if made[0] == fault.level else one

        spark.FileTask = task  # type: ignore[misc, assignment]


def _striker(attempt: Attempt, met: Path) -> Callable[[int], None] | None:
    """To be called at each change to the disk."""
    strike, place, run = attempt.strike, attempt.place, attempt.run
    if strike is None or place is None or run is None:
        return None

    def hit() -> None:
        if place.hit(strike, run):
            (met / f"{strike.what} hit").mkdir(parents=True)

    def at_call(number: int) -> None:
        if number == strike.at:
            timer = threading.Timer(strike.after_seconds, hit)
            timer.daemon = True
            timer.start()

    return at_call


def arguments_of(*given: object) -> tuple[str, ...]:
    """Arguments as the command gets them."""
    return tuple(map(str, given))
