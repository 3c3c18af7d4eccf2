"""Spark's side of a search: its session, jobs and their failures.

A job runs in a thread of its own: Ctrl-C and deadlines reach the one that waits, which can cancel
the job. Spark starts in another, so that the caller can do something else meanwhile.

It is a classic session, which has RDDs, or one of Spark Connect. A stage is the same on both: one
task for each share of some items, whose results the driver collects. On a classic session it is an
RDD. `checker.search.engines.spark_connect` is the other.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from waterline.checker.problem.distribution import require
from waterline.checker.search.engines.engine import (
    EngineChoice,
    EngineFailed,
    Interrupted,
    require_spark,
)
from waterline.checker.search.engines.java import SparkGone, how_it_ended
from waterline.checker.search.engines.processes import SAFE_PATH
from waterline.checker.search.engines.shipping import Shipped, Task
from waterline.checker.search.engines.spark_session import (
    NoSpark,
    is_on_this_machine,
    start_context,
    wait_for_executors,
)
from waterline.checker.search.engines.workers import WorkersLost
from waterline.checker.storage.plain_files import Damaged
from waterline.counterexamples.named_file import FULL
from waterline.model.core.errors import BadEnvironment

CONNECT = "sc://"
"""How the address of a server of Spark Connect begins."""


class Platform(Protocol):
    """A session, which is left running if it was there already."""

    @property
    def is_local(self) -> bool:
        """True if its tasks run on this machine."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time, once it is up."""

    def start(self, log: Path) -> None:
        """Start it, and send its workers what they need. Raises `Missing` and `EngineFailed`."""

    def tag_jobs(self, group: str) -> None:
        """Make this thread's jobs those of a group."""

    def cancel(self, group: str) -> None:
        """End the jobs of a group. Other jobs of the session are not ours."""

    def collect(self, items: Sequence[Any], slices: int, task: Task) -> list[Any]:
        """The results of `task` over the items, in so many shares, in order."""

    def finished_tasks(self, group: str) -> int:
        """How many tasks of the last job of a group have ended."""

    def end(self, problem: Exception) -> str | None:
        """How Spark itself has ended, if that is why a job failed; else None."""

    def cause(self, problem: Exception) -> str:
        """The text of an error, with those of the tasks that failed."""

    def spill_place(self) -> str:
        """The place of what Spark keeps itself, whose errors do not name it."""

    def stop(self) -> None:
        """Stop it if it is ours."""


class Classic:
    """A SparkContext."""

    def __init__(self, choice: EngineChoice, describe: Callable[[str], None]) -> None:
        self._choice = choice
        self._describe = describe
        self.context: Any = getattr(choice.session, "sparkContext", choice.session)
        self._shipped: Shipped | None = None
        self.cores = 0

    @property
    def is_local(self) -> bool:
        """True if its tasks run on this machine."""
        return str(self.context.master).startswith("local")

    def start(self, log: Path) -> None:
        """Start the context unless there is one, and wait for its first executor."""
        if self.context is None:
            self.context = start_context(
                self._choice.master, settings=self._choice.settings, log=log
            )
        self.context.environment |= SAFE_PATH
        wait_for_executors(self.context)
        self.cores = int(self.context.defaultParallelism)
        self._shipped = (
            Shipped.here() if self.is_local else Shipped.to(self, describe=self._describe)
        )

    def tag_jobs(self, group: str) -> None:
        """Set the job group."""
        self.context.setJobGroup(group, "waterline", interruptOnCancel=True)

    def cancel(self, group: str) -> None:
        """End the jobs of the group, if Spark is still there."""
        from py4j.protocol import Py4JError  # noqa: PLC0415 - an extra brings it

        if self.context is not None:
            try:
                self.context.cancelJobGroup(group)
            except (Py4JError, OSError):
                return  # Spark is gone, and with it the job.

    def ship(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a partition's items, or of its number and these, as Spark wants it."""
        assert self._shipped is not None
        return self._shipped.ship(function)

    def add_archive(self, path: Path) -> None:
        """Send an archive to the executors."""
        self.context.addArchive(f"{path}#{path.stem}")

    def collect(self, items: Sequence[Any], slices: int, task: Task) -> list[Any]:
        """One stage of an RDD."""
        return self.collect_with(self.ship(task), items, slices)

    def collect_with(self, call: Task, items: Sequence[Any], slices: int) -> list[Any]:
        """The same, of a function that needs nothing of ours."""
        tasks = self.context.parallelize(list(items), slices)
        found: list[Any] = tasks.mapPartitions(call).collect()
        return found

    def finished_tasks(self, group: str) -> int:
        """How many tasks of the last job have ended."""
        tracker = self.context.statusTracker()
        job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(group), default=-1))
        stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
        return sum(stage.numCompletedTasks for stage in stages if stage)

    def end(self, problem: Exception) -> str | None:
        """How the JVM has ended, unless Java itself has raised the error."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415

        raised_by_java = isinstance(problem, Py4JJavaError)
        return None if raised_by_java else how_it_ended(self.context._gateway)

    def cause(self, problem: Exception) -> str:
        """The text of Java's error."""
        return str(getattr(problem, "java_exception", problem)).strip()

    def spill_place(self) -> str:
        """The folder of Spark's shuffle."""
        chosen = os.environ.get("SPARK_LOCAL_DIRS")
        return str(chosen or self.context.getConf().get("spark.local.dir", "/tmp"))

    def stop(self) -> None:
        """Stop the context if it is ours."""
        if self.context is not None and self._choice.session is None:
            self.context.stop()
        self.context = None


def platform_of(choice: EngineChoice, describe: Callable[[str], None]) -> Platform:
    """The platform that a choice names. Raises `Missing` where its libraries are not installed."""
    of_connect = "connect" in type(choice.session).__module__
    if of_connect or (choice.session is None and (choice.master or "").startswith(CONNECT)):
        require("grpc", "connect", f"Spark Connect ({choice.master or 'a session of it'})")
        from waterline.checker.search.engines.spark_connect import Connect  # noqa: PLC0415 - an extra

        return Connect(choice, describe)
    return Classic(choice, describe)


_LOOK_SECONDS = 0.2
_TRACEBACK = "Traceback (most recent call last):"
_TRACED = (" ", "\t", "Driver stacktrace:")
_LOST = (
    "Superseded",
    "CandidatesLost",
    "FetchFailed",
    "ExecutorLost",
    "Lost executor",
    "executor lost",
    "ExecutorExited",
)


def _of_ours(cause: str) -> Exception | None:
    """The error that a task has raised as this process would: a file is gone, a model not loaded.

    To go on with the levels that are kept would meet it again.
    """
    for kind in (Damaged, BadEnvironment):
        if found := re.search(rf"^{kind.__module__}.{kind.__name__}: (.*)$", cause, re.MULTILINE):
            return kind(found[1])
    return None


def _full_disk(platform: Platform, cause: str) -> OSError | None:
    """The error of a full disk, if a task, a worker or Spark itself met one: what, and where."""
    for code in FULL:
        text = os.strerror(code)
        if text in cause:
            named = re.search(rf"{text}: '([^']+)'", cause) or re.search(
                rf"(/\S+) \({text}\)", cause
            )
            kept = f"what Spark keeps in {platform.spill_place()}"
            return OSError(code, text, named[1] if named else kept)
    return None


class _Each:
    """`work` for each item of a share."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work

    def __call__(self, items: Iterator[Any]) -> Iterator[Any]:
        return (self.work(item) for item in items)


class SparkSide:
    """A session, which is left running if it was there already, and jobs of our own on it.

    Others' jobs in the session are not touched. `on_wait` receives what is waited for, and that an
    executor was lost. Raises `Missing` where Spark is not installed.
    """

    def __init__(self, choice: EngineChoice, on_wait: Callable[[str], None]) -> None:
        require_spark()
        self._on_wait = on_wait
        self._group = f"waterline-{uuid4()}"
        self._log = Path(tempfile.gettempdir()) / f"{self._group}.log"
        self._platform = platform_of(choice, on_wait)
        self.shares_cores = choice.session is None and is_on_this_machine(choice.master)
        """True if a session that is to be started takes cores from this process."""
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="spark-job")
        self._job: Future[Any] | None = None
        self._boot: threading.Thread | None = None
        self._boot_error: BaseException | None = None

    def start(self, then: Callable[[], object] = lambda: None) -> None:
        """Begin to start Spark, unless that has begun, and call `then` when it is up."""
        if self._boot is not None:
            return

        def boot() -> None:
            try:
                self._platform.start(self._log)
                then()
            except BaseException as problem:
                self._boot_error = problem

        self._boot = threading.Thread(target=boot, name="spark-session", daemon=True)
        self._boot.start()

    @property
    def is_up(self) -> bool:
        """True if it need not be waited for."""
        return self._boot is not None and not self._boot.is_alive()

    def wait(self) -> None:
        """Wait until it is up. Raises the error that prevented it."""
        assert self._boot is not None
        if self._boot.is_alive():
            self._on_wait("starting Spark")
        self._boot.join()
        if self._boot_error is not None:
            raise self._boot_error

    @property
    def cores(self) -> int:
        """How many tasks run at a time, once it is up."""
        return self._platform.cores

    @property
    def is_local(self) -> bool:
        """True if its tasks run on this machine."""
        return self._platform.is_local

    def classic(self, wanted_for: str) -> Classic:
        """The session, for what needs a shuffle of RDDs. Raises `NoSpark` on Spark Connect."""
        if not isinstance(self._platform, Classic):
            raise NoSpark(f"Spark Connect has no RDDs, and {wanted_for}")
        return self._platform

    def run(
        self, when: str, job: Callable[[], Any], *, until: Callable[[], bool] = lambda: False
    ) -> Any:
        """Return the job's result. `until` is called now and then; True cancels the job.

        Raises `Interrupted` then, `WorkersLost` if an executor was lost, `SparkGone` if Spark
        itself is, else `EngineFailed`; and as this process would `OSError` if a disk is full,
        `Damaged` if a file is not what was written, `BadEnvironment` if a model is not found.
        """

        def run() -> Any:
            self._platform.tag_jobs(self._group)
            return job()

        self._job = self._threads.submit(run)
        try:
            while not self._job.done():
                wait([self._job], timeout=_LOOK_SECONDS)
                if until():
                    self.cancel()
                    raise Interrupted
            return self._job.result()
        except Interrupted:
            raise
        except Exception as problem:
            raise self._meaning(when, problem) from problem

    def collect(
        self,
        when: str,
        items: Sequence[Any],
        slices: int,
        task: Task,
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> list[Any]:
        """Return the results of a stage: `task` over the items, in so many shares, in order."""
        found: list[Any] = self.run(
            when, lambda: self._platform.collect(items, slices, task), until=until
        )
        return found

    def each(
        self,
        when: str,
        items: Sequence[Any],
        slices: int,
        work: Callable[[Any], Any],
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> list[Any]:
        """Return `work(item)` for each item, in so many tasks. Raises `EngineFailed`."""
        try:
            return self.collect(when, items, slices, _Each(work), until=until)
        except WorkersLost as lost:
            # There is nothing to make anew: Spark has tried these tasks again already.
            raise EngineFailed(str(lost)) from lost

    def finished_tasks(self) -> int:
        """How many tasks of the last job have ended."""
        return self._platform.finished_tasks(self._group)

    def cancel(self) -> None:
        """End the job that runs, if any."""
        if self._job is not None and not self._job.done():
            self._platform.cancel(self._group)
            wait([self._job])

    def close(self) -> None:
        """Stop it if it is ours."""
        if self._boot is not None:
            with suppress(RuntimeError):  # Ctrl-C may come before it has begun.
                self._boot.join()
        self.cancel()
        self._threads.shutdown(wait=True)
        self._platform.stop()
        self._log.unlink(missing_ok=True)

    def _meaning(self, when: str, problem: Exception) -> Exception:
        """Translate an error of Spark's into ours."""
        if how := self._platform.end(problem):
            return SparkGone(when, how)
        cause = self._platform.cause(problem)
        if found := _full_disk(self._platform, cause) or _of_ours(cause):
            return found
        # A Python traceback ends with what it was. The JVM's own, or the driver's, comes after it.
        of_python = cause.rpartition(_TRACEBACK)[2]
        text = [line for line in of_python.splitlines() if line and not line.startswith(_TRACED)]
        said = text[:1] if of_python != cause else [*text[:1], *text[-1:]]
        ends = " ... ".join(dict.fromkeys(said))
        if any(sign in cause for sign in _LOST):
            self._on_wait(f"candidates were lost {when}; making them anew")
            return WorkersLost(ends)
        return EngineFailed(f"Spark failed {when}: {ends}")
