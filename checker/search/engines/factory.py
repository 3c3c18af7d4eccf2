"""Factory of engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.choice import EngineChoice
from waterline.checker.search.engines.growing import GrowingEngine
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.search.engines.thread_workers import DiskWorkers
from waterline.checker.search.engines.written_levels import WrittenLevels

if TYPE_CHECKING:
    from waterline.checker.storage.run_directory import RunDirectory


def engine_for(
    problem: Problem,
    choice: EngineChoice,
    *,
    memory_bytes: int | None = None,
    directory: RunDirectory | None = None,
    announce: Callable[[str], None] = lambda message: None,
    deadline: Callable[[], bool] | None = None,
) -> FileEngine | GrowingEngine:
    """Return the engine chosen. The local one imports nothing of Spark.

    Beyond `memory_bytes` it continues over files. In a `directory` every level is kept. `announce`
    receives the reason of each wait; `deadline` returns True to cut a level short.
    """
    words = problem.model.layout.words
    levels = WrittenLevels(words, directory)
    if choice.name == "local":
        memory = MemoryEngine(
            problem, threads=choice.threads, memory_bytes=memory_bytes, deadline=deadline
        )
        threads = DiskWorkers(
            words=words, threads=choice.threads, memory_bytes=memory_bytes, deadline=deadline
        )
        over_files = FileEngine(problem, threads, levels, owners=choice.partitions)
        return GrowingEngine(memory, over_files, name="local")
    from waterline.checker.search.engines.spark import SparkWorkers  # noqa: PLC0415 - the local engine needs none

    workers = SparkWorkers(problem, choice, on_wait=announce, deadline=deadline)
    helpers = None
    if choice.driver_levels is None:
        helpers = DiskWorkers(words=words, name="driver", threads=choice.threads, deadline=deadline)
    over_files = FileEngine(problem, workers, levels, owners=choice.partitions, helpers=helpers)
    if choice.driver_levels == 0:
        return over_files
    memory = MemoryEngine(
        problem,
        name="driver",
        threads=choice.threads,
        memory_bytes=memory_bytes,
        deadline=deadline,
    )
    return GrowingEngine(memory, over_files, name="spark", outgrown=workers.is_wanted)
