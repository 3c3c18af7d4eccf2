"""Where Spark's tasks run: a classic session, which has RDDs, or a session of Spark Connect.

A stage is the same on both: one task for each share of some items, whose results the driver
collects. On a classic session it is an RDD. `checker.search.engines.spark_connect` is the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.java import how_it_ended
from waterline.checker.search.engines.processes import SAFE_PATH
from waterline.checker.search.engines.shipping import Shipped, Task
from waterline.checker.search.engines.spark_session import start_context, wait_for_executors

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
        from waterline.checker.search.engines.spark_connect import Connect  # noqa: PLC0415 - an extra

        return Connect(choice, describe)
    return Classic(choice, describe)
