"""Every way a search can be carried out on one machine, by name."""

from __future__ import annotations

from checker.engine import Engine
from checker.engines.disk import DiskWorkers
from checker.engines.memory import MemoryEngine
from checker.engines.partitioned import PartitionedEngine
from checker.problem import Problem

WAYS = ("one thread", "two threads", "over files", "handed over")
HANDED_OVER_AT = 2


def engine_for(problem: Problem, way: str) -> Engine:
    """An engine that has not begun."""
    threads = 1 if way == "one thread" else 2
    memory = MemoryEngine(problem, threads=threads)
    if way in {"one thread", "two threads"}:
        return memory
    return PartitionedEngine(
        problem,
        DiskWorkers(words=problem.model.layout.words, threads=2, memory_bytes=1 << 20),
        name="local",
        memory=memory,
        memory_name="local",
        begins_in_memory=way == "handed over",
        outgrown=lambda depth, frontier: depth >= HANDED_OVER_AT,
        owners=3,
    )
