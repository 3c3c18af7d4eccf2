"""Spark's side of a search: started in a thread, used for jobs.

So the caller can do something else while Spark starts, and Ctrl-C meets a waiting thread, not one
that talks to the JVM.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from waterline.checker.search.engines.answers import EngineFailed
from waterline.checker.search.engines.child_processes import SAFE_PATH
from waterline.checker.search.engines.choice import EngineChoice, require_spark
from waterline.checker.search.engines.shipping import Shipped
from waterline.checker.search.engines.spark_job import SparkJobs
from waterline.checker.search.engines.spark_session import start_context, wait_for_executors
from waterline.checker.search.engines.workers import WorkersLost


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
        """Whether it need not be waited for."""
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
        """Whether its tasks run on this machine."""
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
