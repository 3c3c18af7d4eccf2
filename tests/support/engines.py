"""Every way a search can be carried out on one machine, by name."""

from __future__ import annotations

from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.engines.factory import GrowingEngine
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine, WrittenLevels
from waterline.checker.search.engines.workers import DiskWorkers

WAYS = ("one thread", "two threads", "over files", "handed over")
HANDED_OVER_AT = 2


def engine_for(problem: Problem, way: str) -> Engine:
    """An engine that has not begun."""
    threads = 1 if way == "one thread" else 2
    if way in {"one thread", "two threads"}:
        return MemoryEngine(problem, threads=threads)
    words = problem.model.layout.words
    workers = DiskWorkers(words=words, threads=2, memory_bytes=1 << 20)
    over_files = FileEngine(problem, workers, WrittenLevels(words), owners=3)
    if way == "over files":
        return over_files
    memory = MemoryEngine(problem, threads=threads)
    return GrowingEngine(
        memory, over_files, name="local", outgrown=lambda depth, frontier: depth >= HANDED_OVER_AT
    )
