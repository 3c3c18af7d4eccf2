"""Workers on one machine, out of core: threads that explore owner after owner over files.

Visited states are sorted files, and so are candidates once there are many: what is held in memory
is one owner's share for each thread. Slower than in memory, as exact, and bounded by the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from checker.engine import Interrupted
from checker.engines.task import LevelPlan, Report, explore
from checker.store.blocks import width_of
from checker.store.runs import warm_up
from checker.store.storage import LocalStorage, Storage

OWNERS_MIN, OWNERS_MAX = 16, 1024
_TASK_BYTES_A_ROW = 6
"""Words that a task holds for each word of a candidate: received, joined, sorted twice, kept."""
_GATHERED_ROWS = 1 << 22
_GROWTH_EXPECTED = 16
"""How much larger than at the time of handing over a level's candidates are expected to get."""


class DiskWorkers:
    """Threads over files. `memory_bytes` decides how many owners share the work."""

    def __init__(
        self,
        *,
        words: int,
        name: str = "disk",
        threads: int = 0,
        memory_bytes: int | None = None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.words = words
        self.name = name
        self.threads = threads or os.cpu_count() or 1
        self.memory_bytes = memory_bytes or 1 << 30
        share = self.memory_bytes // (8 * self.threads)
        self.gathered_rows = min(_GATHERED_ROWS, share // (8 * words) + 1)
        self._late = deadline or (lambda: False)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="disk")
        self._candidates: Candidates | None = None
        self._directory: Path | None = None
        self._stop = threading.Event()

    def start(self, storage: Storage, *, frontier: int, visited: int) -> int:
        """So many owners that one of them for each thread fits half of the memory."""
        if isinstance(storage, LocalStorage):
            self._directory = storage.root / "candidates"
        elif self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="waterline-"))
        warm_up(width_of(self.words))
        expected = (frontier * _GROWTH_EXPECTED + visited // 8) * self.words * 8
        room = self.memory_bytes / 2 / self.threads
        owners = int(expected * _TASK_BYTES_A_ROW / room) + 1
        return min(max(owners, OWNERS_MIN), OWNERS_MAX)

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Keep candidates for the next level."""
        self._candidates = self._new_candidates(0, owners)
        for owner, block in blocks:
            self._candidates.add(owner, block)

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Every owner's task, as many at a time as there are threads."""
        owners = len(plan.owners)
        given = self._candidates if plan.absorbs else None
        made = self._new_candidates(plan.depth + 1, owners)
        reports: list[Report] = []

        def explore_owner(owner: int) -> None:
            if self._stop.is_set() or self._late():
                raise Interrupted
            blocks = given.take(owner) if given is not None else []
            for to, found in explore(plan, owner, ((owner, block) for block in blocks)):
                if to == owners:
                    reports.append(found)
                else:
                    made.add(to, found)

        try:
            for _ in self._pool.map(explore_owner, range(owners)):
                pass
        except BaseException:
            self._stop.set()
            raise
        if given is not None:
            given.close()
        self._candidates = made
        return reports

    def renew(self) -> bool:
        """Candidates are as safe as the files."""
        return False

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """On the threads."""
        yield from self._pool.map(work, items)

    def close(self) -> None:
        """End the threads, forget the candidates."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._candidates = None
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _new_candidates(self, depth: int, owners: int) -> Candidates:
        assert self._directory is not None
        return Candidates(self._directory / f"{depth:05d}", owners, self.memory_bytes // 8)


class Candidates:
    """Blocks on their way to their owners: in memory up to `bytes_max`, then in a file each."""

    def __init__(self, directory: Path, owners: int, bytes_max: int) -> None:
        self.directory = directory
        self.bytes_max = bytes_max
        self._held: list[list[bytes]] = [[] for _ in range(owners)]
        self._held_bytes = 0
        self._locks = [threading.Lock() for _ in range(owners)]

    def add(self, owner: int, block: bytes) -> None:
        """One more block for an owner."""
        with self._locks[owner]:
            self._held[owner].append(block)
            self._held_bytes += len(block)
        if self._held_bytes > self.bytes_max:
            self._spill()

    def take(self, owner: int) -> list[bytes]:
        """All that was sent to an owner."""
        with self._locks[owner]:
            blocks = self._held[owner]
            self._held[owner] = []
            path = self._path(owner)
            if path.exists():
                blocks.append(path.read_bytes())
                path.unlink()
            return blocks

    def close(self) -> None:
        """Remove what is left."""
        for owner in range(len(self._held)):
            self.take(owner)
        if self.directory.exists():
            self.directory.rmdir()

    def _spill(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        for owner, lock in enumerate(self._locks):
            with lock:
                if self._held[owner]:
                    with self._path(owner).open("ab") as file:
                        file.writelines(self._held[owner])
                    self._held[owner] = []
        self._held_bytes = 0

    def _path(self, owner: int) -> Path:
        return self.directory / f"{owner:05d}.states"
