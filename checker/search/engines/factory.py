"""Factory of engines, and the engine that starts in memory and spills to files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Arrivals, EngineChoice, Expansion
from waterline.checker.search.engines.memory import MemoryEngine, OutOfMemory
from waterline.checker.search.engines.over_files import FileEngine, WrittenLevels
from waterline.checker.search.engines.workers import DiskWorkers
from waterline.checker.storage.arena import TooManyStates
from waterline.checker.storage.plain_files import LevelFiles

if TYPE_CHECKING:
    from waterline.checker.storage.run_directory import RunDirectory


_Found = TypeVar("_Found")


def _never(depth: int, states: int) -> bool:
    return False


class GrowingEngine:
    """`memory` explores until it is full, or until `outgrown(depth, states of the level)` says so.

    Then every level is written out, and `over_files` goes on. Where levels are kept, each is
    written as it is finished.
    """

    def __init__(
        self,
        memory: MemoryEngine,
        over_files: FileEngine,
        *,
        name: str,
        outgrown: Callable[[int, int], bool] = _never,
    ) -> None:
        self.name = name
        self._memory = memory
        self._over_files = over_files
        self._outgrown = outgrown
        self._now: MemoryEngine | FileEngine = memory

    @property
    def can_shed(self) -> bool:
        """True if states are still in memory."""
        return self._now is self._memory

    def close(self) -> None:
        """Let go of everything."""
        self._memory.close()
        self._over_files.close()

    def restore(self, levels: Sequence[LevelFiles]) -> None:
        """Go on after these levels. Raises `Damaged` if a file is not what was written."""
        if self._outgrown(levels[-1].depth, levels[-1].states):
            self._leave_memory()
            self._over_files.restore(levels)
            return
        written = self._over_files.levels
        written.restore(levels)
        files, check = written.to_verify()
        for _ in self._memory.over(files, check):
            pass
        try:
            self._memory.restore([written.read(file) for file in level.files] for level in levels)
        except (OutOfMemory, TooManyStates):
            self._hand_over()

    def absorb(self) -> Arrivals:
        """The next level's new states, checked."""
        found = self._now.absorb()
        if self._now is self._memory and self._over_files.levels.are_kept and found.new:
            return replace(found, files=self._write(found.depth))
        return found

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Expand the level; over files if memory has no room for it."""
        if self._now is self._memory:
            try:
                if not self._outgrown(self._memory.depth, self._memory.frontier):
                    return self._memory.expand(happened)
            except (OutOfMemory, TooManyStates):
                pass
            self._write_all()
            self._hand_over()
        return self._now.expand(happened)

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """Yield `work(part)` for each part of a level."""
        return self._now.over_level(depth, work)

    def _write_all(self) -> None:
        for depth in range(len(self._over_files.levels), self._memory.depth + 1):
            self._write(depth)

    def _write(self, depth: int) -> LevelFiles:
        """Write a level that is in memory."""
        return self._over_files.levels.write(self._memory.sorted_level(depth), self._memory.name)

    def _hand_over(self) -> None:
        self._leave_memory()
        self._over_files.take_over()

    def _leave_memory(self) -> None:
        self._memory.close()
        self._now = self._over_files


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
    in_memory = partial(
        MemoryEngine,
        problem,
        threads=choice.threads,
        memory_bytes=memory_bytes,
        deadline=deadline,
    )
    on_disk = partial(
        DiskWorkers,
        words=words,
        threads=choice.threads,
        memory_bytes=memory_bytes,
        deadline=deadline,
    )
    if choice.name == "local":
        over_files = FileEngine(problem, on_disk(), levels, owners=choice.partitions)
        return GrowingEngine(in_memory(), over_files, name="local")
    from waterline.checker.search.engines.spark import SparkWorkers  # noqa: PLC0415 - the local engine needs none

    workers = SparkWorkers(problem, choice, on_wait=announce, deadline=deadline)
    if directory is not None:
        workers.require(directory.storage)
    helpers = on_disk(name="driver") if choice.driver_levels is None else None
    over_files = FileEngine(problem, workers, levels, owners=choice.partitions, helpers=helpers)
    if choice.driver_levels == 0:
        return over_files
    return GrowingEngine(
        in_memory(name="driver"), over_files, name="spark", outgrown=workers.is_wanted
    )
