"""Workers: their interface, and threads over files.

Visited states are sorted files, and so are candidates once there are many: what is held in memory
is one owner's share for each thread. Slower than in memory, as exact, and bounded by the disk.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from waterline.checker.search.engines.engine import Interrupted, threads_of
from waterline.checker.search.engines.processes import anonymous_bytes
from waterline.checker.search.engines.task import LevelPlan, Report, explore
from waterline.checker.storage import disk_calls, programs
from waterline.checker.storage.plain_files import open_plain
from waterline.checker.storage.storage import Damaged, LocalStorage, Storage

SENT_ROWS_MAX = 1 << 23
"""Most states sent that a worker keeps."""
GROWTH_EXPECTED = 16
"""Candidates to expect in the widest level to come, for each state of the level where workers take
over.
"""


class WorkersLost(Exception):
    """Some workers are gone, and with them the candidates they held; a level may be tried again."""


class Workers(Protocol):
    """Tasks over files, an owner's share of a level each.

    `name` is how the report calls them. Candidates go from one `explore` to the next by their
    hands; `send` is for the first. `sent_rows` and `rules` are what `LevelPlan` has of these names,
    and `parts_max` is the most parts that an owner's candidates may be dealt to.
    """

    name: str
    sent_rows: int
    parts_max: int

    @property
    def rules(self) -> str:
        """Digest of the problem's rules; "" where tasks run in this process."""

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Get ready, and say how many owners there should be.

        `work` is a folder of the storage that only this attempt uses.
        """

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates that this process made, by owner."""

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Run `task.explore` for every owner. Raises `WorkersLost`."""

    def renew(self) -> bool:
        """True if candidates should rather be made anew from the files at this level."""

    def keep_tables(self, owners: int, states: int) -> bool:
        """True if each of so many owners' states, this many, fit the memory of a worker."""

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, computed anywhere."""

    def close(self) -> None:
        """Let go of everything."""


OWNERS_MIN, OWNERS_MAX = 16, 1024
_TASK_BYTES_A_ROW = 6
"""Words that a task holds for each word of a candidate: received, joined, sorted twice, kept."""
HELD_SHARE = 8
"""Candidates are spilled once they take one part in so many of the memory."""


class DiskWorkers:
    """Threads over files. `memory_bytes` decides how many owners share the work.

    What this process holds when they start, such as libraries, is taken off it.
    """

    parts_max = 1

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
        self.rules = ""
        self.threads = threads_of(threads)
        self._memory_asked = memory_bytes
        self._divide(memory_bytes or 1 << 30)
        self._late = deadline or (lambda: False)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="disk")
        self._candidates: Candidates | None = None
        self._directory: Path | None = None
        self._stop = threading.Event()

    def _divide(self, memory_bytes: int) -> None:
        self.memory_bytes = memory_bytes
        share = memory_bytes // (8 * self.threads)
        self.sent_rows = min(SENT_ROWS_MAX, share // (16 * self.words) + 1)

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Return how many owners let one for each thread fit half of the memory."""
        if self._directory is None:
            if self._memory_asked is not None:
                left = (
                    (self._memory_asked - anonymous_bytes()) * 7 // 8
                )  # Lists of files are extra.
                self._divide(max(left, self._memory_asked // 16 + 1))
            if isinstance(storage, LocalStorage):
                self._directory = storage.root / work / "candidates"
            else:
                self._directory = Path(tempfile.mkdtemp(prefix="waterline-"))
        programs.make_ready(programs.over_files(self.words))
        expected = (frontier * GROWTH_EXPECTED + visited // 8) * self.words * 8
        room = self.memory_bytes / 2 / self.threads
        owners = int(expected * _TASK_BYTES_A_ROW / room) + 1
        return min(max(owners, OWNERS_MIN), OWNERS_MAX)

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Keep candidates for the next level."""
        self._keep(self._new_candidates(owners))
        assert self._candidates is not None
        for owner, block in blocks:
            self._candidates.add(owner, block)

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Every owner's task, as many at a time as there are threads."""
        owners = len(plan.owners)
        given = self._candidates if plan.absorbs else None
        made = self._new_candidates(owners)
        reports: list[Report] = []

        def explore_owner(owner: int) -> None:
            if self._stop.is_set() or self._late():
                raise Interrupted
            blocks = given.take(owner) if given is not None else []
            for to, found in explore(plan, owner, ((0, block) for block in blocks)):
                if to == owners:
                    reports.append(found)
                else:
                    made.add(to, bytes(found))

        try:
            for _ in self._pool.map(explore_owner, range(owners)):
                pass
        except BaseException:
            self._stop.set()
            raise
        self._keep(made)
        return reports

    def renew(self) -> bool:
        """Candidates are as safe as the files."""
        return False

    def keep_tables(self, owners: int, states: int) -> bool:
        """Memory is short where threads go on over files."""
        return False

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, computed on the threads."""
        yield from self._pool.map(work, items)

    def close(self) -> None:
        """End the threads, forget the candidates."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._candidates = None
        if self._directory is not None:
            disk_calls.remove_folder(self._directory)

    def _new_candidates(self, owners: int) -> Candidates:
        assert self._directory is not None
        # A level can be explored again: no two have a folder in common.
        folder = self._directory / secrets.token_hex(8)
        return Candidates(folder, owners, self.memory_bytes // HELD_SHARE)

    def _keep(self, candidates: Candidates) -> None:
        """Hold these for the next level, and let go of those before."""
        if self._candidates is not None:
            self._candidates.close()
        self._candidates = candidates


class Candidates:
    """Blocks on their way to their owners: in memory up to `bytes_max`, then in a file each.

    What is read from a file is what was written to it, for its length and checksum are held here.
    """

    def __init__(self, folder: Path, owners: int, bytes_max: int) -> None:
        self.folder = folder
        self.bytes_max = bytes_max
        self._held: list[list[bytes]] = [[] for _ in range(owners)]
        self._held_bytes = 0
        self._spilled: list[tuple[int, int]] = [(0, 0)] * owners
        """For each owner, how many bytes its file has, and their checksum."""
        self._locks = [threading.Lock() for _ in range(owners)]

    def add(self, owner: int, block: bytes) -> None:
        """Add one more block for an owner."""
        with self._locks[owner]:
            self._held[owner].append(block)
            self._held_bytes += len(block)
        if self._held_bytes > self.bytes_max:
            self._spill()

    def take(self, owner: int) -> list[bytes]:
        """All that was sent to an owner. Raises `Damaged`."""
        with self._locks[owner]:
            blocks = self._held[owner]
            self._held[owner] = []
            if self._spilled[owner][0]:
                blocks.append(self._read(owner))
                self._spilled[owner] = (0, 0)
                disk_calls.remove(self._path(owner))
            return blocks

    def close(self) -> None:
        """Forget what is left."""
        self._held = []
        disk_calls.remove_folder(self.folder)

    def _spill(self) -> None:
        disk_calls.make_folder(self.folder)
        for owner, lock in enumerate(self._locks):
            with lock:
                if self._held[owner]:
                    self._append(owner, self._held[owner])
                    self._held[owner] = []
        self._held_bytes = 0

    def _append(self, owner: int, blocks: Sequence[bytes]) -> None:
        size, crc = self._spilled[owner]
        path = self._path(owner)
        flags = os.O_WRONLY | (os.O_APPEND if size else os.O_CREAT | os.O_EXCL)
        with os.fdopen(open_plain(self.folder, path.name, flags), "wb") as file:
            for block in blocks:
                disk_calls.write(file, path, block)
                size, crc = size + len(block), zlib.crc32(block, crc)
        self._spilled[owner] = size, crc

    def _read(self, owner: int) -> bytes:
        path = self._path(owner)
        try:
            with os.fdopen(open_plain(self.folder, path.name), "rb") as file:
                data = file.read(self._spilled[owner][0] + 1)
        except FileNotFoundError:
            raise Damaged(f"{path} is missing") from None
        if (len(data), zlib.crc32(data)) != self._spilled[owner]:
            raise Damaged(f"{path} is not what was written a moment ago")
        return data

    def _path(self, owner: int) -> Path:
        return self.folder / f"{owner:05d}.states"
