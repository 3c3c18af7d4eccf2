"""Levels in files: names, places, contents.

With a run directory every level is written as it is finished, and what a run that was resumed has
written before is there already. Without one there is a temporary directory, from the first level on
that has to be written.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage.plain_files import LevelFiles, StateFile
from waterline.checker.storage.storage import LocalStorage, Storage, require_whole

if TYPE_CHECKING:
    # Executors load this module, and not what a manifest is read with.
    from waterline.checker.storage.run_directory import RunDirectory

_ONLY_ATTEMPT = "t1"
_ONLY_WORK = "work"


class WrittenLevels:
    """Levels 0 to `depth` in files of states of `words` words; `depth` is -1 where there is none.

    `are_kept` says that each level is wanted as it is finished.
    """

    def __init__(self, words: int, directory: RunDirectory | None = None) -> None:
        self.words = words
        self.are_kept = directory is not None
        self._directory = directory
        self._temporary: Path | None = None
        self._levels: list[LevelFiles] = []

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[LevelFiles]:
        return iter(self._levels)

    def __getitem__(self, depth: int) -> LevelFiles:
        return self._levels[depth]

    @property
    def depth(self) -> int:
        """The depth of the last level."""
        return len(self._levels) - 1

    @property
    def states(self) -> int:
        """How many states there are in all levels."""
        return sum(level.states for level in self._levels)

    @property
    def storage(self) -> Storage:
        """Where files are."""
        if self._directory is not None:
            return self._directory.storage
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="waterline-"))
        return LocalStorage(self._temporary)

    @property
    def work(self) -> str:
        """The folder of what is of no use once the search has ended."""
        return self._directory.work if self._directory is not None else _ONLY_WORK

    def arrivals(self, depth: int) -> str:
        """The name of an owner's file of new states, with the owner's number to fill in."""
        return f"level-{depth:05d}/{self._attempt}-{{owner:05d}}.states"

    def close(self) -> None:
        """Remove what is temporary."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def restore(self, levels: Sequence[LevelFiles]) -> None:
        """Restore the levels that the run has written before."""
        self._levels = list(levels)

    def to_verify(self) -> tuple[Sequence[StateFile], partial[None]]:
        """All files, and what to do with each: raises `Damaged` if it is not what was written."""
        files = [file for level in self._levels for file in level.files]
        return files, partial(require_whole, self.storage, words=self.words)

    def read(self, file: StateFile) -> Rows:
        """The states of a file, sorted."""
        return self.storage.read(file.name, self.words)

    def write(self, blocks: Iterable[Rows], on: str) -> LevelFiles:
        """Write the next level, explored by the engine named `on`, to one file."""
        depth = len(self._levels)
        name = f"level-{depth:05d}/{self._attempt}-all.states"
        file = self.storage.write(name, iter(blocks))
        self.add(LevelFiles(depth, file.rows, on, 0, (file,)))
        return self._levels[-1]

    def add(self, level: LevelFiles) -> None:
        """Add one more level, which is written."""
        assert level.depth == len(self._levels)
        self._levels.append(level)

    @property
    def _attempt(self) -> str:
        """Prefix of the names of all files, as in `RunDirectory`."""
        return self._directory.attempt if self._directory is not None else _ONLY_ATTEMPT
