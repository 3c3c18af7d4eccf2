"""Engine that starts in memory and spills to files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.search.engines.answers import Arrivals, Expansion
from waterline.checker.search.engines.memory import MemoryEngine, OutOfMemory
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.storage.arena import TooManyStates
from waterline.checker.storage.level_files import LevelFiles

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
        """Whether states are still in memory."""
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

    def over_files(self) -> FileEngine:
        """Return the engine over files, after handing over the levels in memory."""
        if self._now is self._memory:
            self._write_all()
            self._hand_over()
        return self._over_files

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
