"""Spark jobs, each in its own thread, and the meaning of their errors.

So Ctrl-C and deadlines reach the thread that waits, and can cancel the job.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from waterline.checker.search.engines.answers import EngineFailed, Interrupted
from waterline.checker.search.engines.jvm import SparkGone, how_it_ended
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
