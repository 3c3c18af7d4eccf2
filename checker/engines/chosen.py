"""The engine that was asked for, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.engines.choice import EngineChoice
from checker.engines.disk import DiskWorkers
from checker.engines.memory import MemoryEngine
from checker.engines.partitioned import PartitionedEngine
from checker.problem import Problem

if TYPE_CHECKING:
    from checker.store.run_directory import RunDirectory


def engine_for(
    problem: Problem,
    choice: EngineChoice,
    *,
    memory_bytes: int | None = None,
    directory: RunDirectory | None = None,
    announce: Callable[[str], None] = lambda message: None,
    deadline: Callable[[], bool] | None = None,
) -> PartitionedEngine:
    """The engine that was asked for. Nothing of Spark is imported for the local one."""
    memory = MemoryEngine(
        problem, threads=choice.threads, memory_bytes=memory_bytes, deadline=deadline
    )
    words = problem.model.layout.words
    if choice.name == "local":
        return PartitionedEngine(
            problem,
            DiskWorkers(
                words=words, threads=choice.threads, memory_bytes=memory_bytes, deadline=deadline
            ),
            name="local",
            memory=memory,
            memory_name="local",
            directory=directory,
            owners=choice.partitions,
        )
    from checker.engines.spark import SparkWorkers  # noqa: PLC0415 - the local engine needs none

    workers = SparkWorkers(
        problem=problem,
        master=choice.master,
        settings=choice.settings,
        driver_levels=choice.driver_levels,
        context=getattr(choice.session, "sparkContext", choice.session),
        on_wait=announce,
        deadline=deadline,
    )
    return PartitionedEngine(
        problem,
        workers,
        name="spark",
        memory=memory,
        memory_name="driver",
        begins_in_memory=choice.driver_levels != 0,
        outgrown=workers.is_wanted,
        directory=directory,
        owners=choice.partitions,
        helpers=None
        if choice.driver_levels is not None
        else DiskWorkers(words=words, name="driver", threads=choice.threads, deadline=deadline),
    )
