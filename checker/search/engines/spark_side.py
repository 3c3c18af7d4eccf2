"""Spark's side of a search: its session, jobs and their failures.

So Ctrl-C and deadlines reach the thread that waits, and can cancel the job.

So the caller can do something else while Spark starts, and Ctrl-C meets a waiting thread, not one
that talks to the JVM.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from waterline.checker.search.engines.engine import (
    EngineChoice,
    EngineFailed,
    Interrupted,
    require_spark,
)
from waterline.checker.search.engines.java import SparkGone, how_it_ended
from waterline.checker.search.engines.processes import SAFE_PATH
from waterline.checker.search.engines.shipping import Shipped
from waterline.checker.search.engines.spark_session import start_context, wait_for_executors
from waterline.checker.search.engines.workers import WorkersLost
from waterline.checker.storage.plain_files import Damaged
from waterline.counterexamples.named_file import FULL
from waterline.model.core.errors import BadEnvironment

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


class SparkJobs:
    """Jobs of one group; others of the same session are not ours.

    `on_wait` is called when an executor was lost.
    """

    def __init__(self, group: str, on_wait: Callable[[str], None]) -> None:
        self._group = group
        self._on_wait = on_wait
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="spark-job")
        self._job: Future[Any] | None = None

    def run(
        self,
        context: Any,
        when: str,
        job: Callable[[], Any],
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> Any:
        """Return the job's result. `until` is called now and then; True cancels the job.

        Raises `Interrupted` then, `WorkersLost` if an executor was lost, `SparkGone` if Spark
        itself is, else `EngineFailed`; and as this process would `OSError` if a disk is full,
        `Damaged` if a file is not what was written, `BadEnvironment` if a model is not found.
        """

        def run() -> Any:
            context.setJobGroup(self._group, "waterline", interruptOnCancel=True)
            return job()

        self._job = self._threads.submit(run)
        try:
            while not self._job.done():
                wait([self._job], timeout=_LOOK_SECONDS)
                if until():
                    self.cancel(context)
                    raise Interrupted
            return self._job.result()
        except Interrupted:
            raise
        except Exception as problem:
            raise self._meaning(context, when, problem) from problem

    def _meaning(self, context: Any, when: str, problem: Exception) -> Exception:
        """Translate an error of Spark's into ours."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - an extra brings it

        is_told_by_java = isinstance(problem, Py4JJavaError)  # so Java is there
        if not is_told_by_java and (how := how_it_ended(context._gateway)):
            return SparkGone(when, how)
        cause = str(getattr(problem, "java_exception", problem)).strip()
        if found := _full_disk(context, cause) or _of_ours(cause):
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

    def cancel(self, context: Any) -> None:
        """End the job that runs, if any."""
        from py4j.protocol import Py4JError  # noqa: PLC0415

        if self._job is not None and not self._job.done():
            with suppress(Py4JError, OSError):  # Spark is gone, and with it the job
                context.cancelJobGroup(self._group)
            wait([self._job])

    def close(self, context: Any) -> None:
        """End the job that runs, and its thread."""
        self.cancel(context)
        self._threads.shutdown(wait=True)


def _of_ours(cause: str) -> Exception | None:
    """The error that a task has raised as this process would: a file is gone, a model not loaded.

    To go on with the levels that are kept would meet it again.
    """
    for kind in (Damaged, BadEnvironment):
        if found := re.search(rf"^{kind.__module__}.{kind.__name__}: (.*)$", cause, re.MULTILINE):
            return kind(found[1])
    return None


def _full_disk(context: Any, cause: str) -> OSError | None:
    """The error of a full disk, if a task, a worker or Spark itself met one: what, and where."""
    for code in FULL:
        text = os.strerror(code)
        if text in cause:
            named = re.search(rf"{text}: '([^']+)'", cause) or re.search(
                rf"(/\S+) \({text}\)", cause
            )
            return OSError(code, text, named[1] if named else _folder_of_spark(context))
    return None


def _folder_of_spark(context: Any) -> str:
    """Where Spark keeps what tasks pass on; its own errors do not say."""
    chosen = os.environ.get("SPARK_LOCAL_DIRS") or context.getConf().get("spark.local.dir", "/tmp")
    return f"what Spark keeps in {chosen}"


class SparkSide:
    """A context, which is left running if it was there already, and jobs of our own on it.

    `on_wait` receives what is waited for. Raises `Missing` where Spark is not installed.
    """

    def __init__(self, choice: EngineChoice, on_wait: Callable[[str], None]) -> None:
        require_spark()
        self._choice = choice
        self._on_wait = on_wait
        self._group = f"waterline-{uuid4()}"
        self._log = Path(tempfile.gettempdir()) / f"{self._group}.log"
        self._jobs = SparkJobs(self._group, on_wait)
        self._boot: threading.Thread | None = None
        self._boot_error: BaseException | None = None
        self._shipped: Shipped | None = None
        self.context: Any = getattr(choice.session, "sparkContext", choice.session)
        self.cores = 0
        """How many tasks run at a time, once it is up."""

    def start(self, then: Callable[[], object] = lambda: None) -> None:
        """Begin to start Spark, unless that has begun, and call `then` when it is up."""
        if self._boot is not None:
            return

        def boot() -> None:
            try:
                if self.context is None:
                    self.context = start_context(
                        self._choice.master, settings=self._choice.settings, log=self._log
                    )
                self.context.environment |= SAFE_PATH
                wait_for_executors(self.context)
                self._shipped = Shipped(self.context, describe=self._on_wait)
                self.cores = int(self.context.defaultParallelism)
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
    def is_local(self) -> bool:
        """True if its tasks run on this machine."""
        return str(self.context.master).startswith("local")

    def ship(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a partition's items, or of its number and these, as Spark wants it."""
        assert self._shipped is not None
        return self._shipped.ship(function)

    def run(
        self, when: str, job: Callable[[], Any], *, until: Callable[[], bool] = lambda: False
    ) -> Any:
        """Return the job's result: see `SparkJobs.run`."""
        return self._jobs.run(self.context, when, job, until=until)

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
        assert self._shipped is not None
        each = self._shipped.each(work)

        def tasks() -> list[Any]:
            rdd = self.context.parallelize(list(items), slices).mapPartitions(each)
            found: list[Any] = rdd.collect()
            return found

        try:
            found: list[Any] = self.run(when, tasks, until=until)
        except WorkersLost as lost:
            # There is nothing to make anew: Spark has tried these tasks again already.
            raise EngineFailed(str(lost)) from lost
        return found

    def finished_tasks(self) -> int:
        """How many tasks of the last job have ended."""
        tracker = self.context.statusTracker()
        job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(self._group), default=-1))
        stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
        return sum(stage.numCompletedTasks for stage in stages if stage)

    def cancel(self) -> None:
        """End the job that runs, if any."""
        if self.context is not None:
            self._jobs.cancel(self.context)

    def close(self) -> None:
        """Stop it if it is ours."""
        if self._boot is not None:
            self._boot.join()
        if self.context is not None:
            self._jobs.close(self.context)
            if self._choice.session is None:
                self.context.stop()
        self.context = None
        self._log.unlink(missing_ok=True)
