"""Levels in an object store: a folder of this machine that is reached through pyarrow."""

from __future__ import annotations

from pathlib import Path

from waterline.checker.search.engines.over_files import WrittenLevels
from waterline.checker.storage.storage import RemoteStorage, Storage


class InObjectStore(WrittenLevels):
    """Levels whose files nobody can map into memory, or add to."""

    def __init__(self, words: int, folder: Path) -> None:
        super().__init__(words)
        self._remote = RemoteStorage(f"file://{folder}")

    @property
    def storage(self) -> Storage:
        """Not the temporary folder that there would be."""
        return self._remote
