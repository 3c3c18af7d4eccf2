"""One job after another on a Spark context, each in a thread of its own, and what its errors mean.

So Ctrl-C and deadlines reach the thread that waits, and can cancel the job.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from checker.engine import EngineFailed, Interrupted
from checker.engines.partitioned import WorkersLost

_LOOK_SECONDS = 0.2
_LOST = (
    "Superseded",
    "FetchFailed",
    "ExecutorLost",
    "Lost executor",
    "executor lost",
    "ExecutorExited",
)


class SparkJobs:
    """Jobs of one group; others of the same session are not ours.

    `on_wait` is told when an executor was lost.
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
        """What the job gives. `until` is asked now and then; if it says so the job is cancelled.

        Raises `Interrupted` then, `WorkersLost` where an executor was lost, else `EngineFailed`.
        """

        def run() -> Any:
            context.setJobGroup(self._group, "waterline", interruptOnCancel=True)
            return job()

        self._job = self._threads.submit(run)
        while not self._job.done():
            wait([self._job], timeout=_LOOK_SECONDS)
            if until():
                self.cancel(context)
                raise Interrupted
        try:
            return self._job.result()
        except Exception as problem:
            cause = str(getattr(problem, "java_exception", problem)).strip().splitlines()
            # Of a Python traceback the last line before the JVM's own trace says what it was.
            told = [line for line in cause if line and not line.startswith((" ", "\t"))]
            ends = " ... ".join(dict.fromkeys([*told[:1], *told[-1:]]))
            if any(sign in "\n".join(cause) for sign in _LOST):
                self._on_wait(f"an executor was lost {when}; making it anew")
                raise WorkersLost(ends) from problem
            raise EngineFailed(f"Spark failed {when}: {ends}") from problem

    def cancel(self, context: Any) -> None:
        """End the job that runs, if any."""
        if self._job is not None and not self._job.done():
            context.cancelJobGroup(self._group)
            wait([self._job])

    def close(self, context: Any) -> None:
        """End the job that runs, and its thread."""
        self.cancel(context)
        self._threads.shutdown(wait=True)
