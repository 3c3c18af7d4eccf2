"""The disk, for an attempt that dies at its nth change to it.

Takes the place of the functions of `checker.storage.disk_calls` in this process. A power loss also
takes back what was not synchronised: contents that were written, names that were given or removed.
Which of that is taken is up to the disk, so it is a choice: nothing, all of it, or some.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from waterline.checker.storage import disk_calls

CALLS = (
    "make_folder",
    "open_aside",
    "write",
    "synchronise",
    "rename",
    "synchronise_folder",
    "remove",
    "remove_folder",
)


@dataclass(frozen=True, slots=True)
class Death:
    """At which call, counted from 0, what happens to this process.

    `how`: "killed"; "power" (killed, and what was not synchronised is lost as `loses` says: "all",
    or a number that some are drawn with); "full" (from this call on there is no room for a write).
    """

    at: int
    is_after: bool = False
    how: str = "killed"
    loses: str | int = "all"

    def __str__(self) -> str:
        lost = f", losing {self.loses}" if self.how == "power" else ""
        return f"{self.how} {'after' if self.is_after else 'before'} call {self.at}{lost}"


class Disk:
    """Counts calls, dies at one, and knows what a power loss could take back."""

    def __init__(self, death: Death | None, at_call: Callable[[int], None] | None = None) -> None:
        self.calls = 0
        self._death = death
        self._at_call = at_call
        """Called before each call, with its number."""
        self._lock = threading.Lock()
        self._contents: dict[int, tuple[Path, int]] = {}
        """By inode: where a file is, and how much of it is synchronised."""
        self._names: list[tuple[Path, Callable[[], object]]] = []
        """By folder: how to take back a change of its names."""
        self._aside = Path(tempfile.mkdtemp(prefix="dying-"))

    def install(self) -> None:
        """Take the place of the real calls, in this process."""
        for name in CALLS:
            setattr(disk_calls, name, self._counted(name, getattr(disk_calls, name)))

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        note = getattr(self, f"_note_{name}", lambda *arguments: None)

        def call(*arguments: Any) -> Any:
            with self._lock:
                number = self.calls
                self.calls += 1
                if self._at_call is not None:
                    self._at_call(number)
                self._come_to(number, name, is_after=False)
                note(*arguments)
                result = real(*arguments)
                if name == "open_aside":
                    self._opened(*result)
                self._come_to(number, name, is_after=True)
                return result

        return call

    def _come_to(self, number: int, name: str, *, is_after: bool) -> None:
        death = self._death
        if death is None or death.is_after != is_after:
            return
        if death.how == "full":
            if number >= death.at and name in ("write", "make_folder", "open_aside"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a full disk")
        elif number == death.at:
            if death.how == "power":
                self._lose(death.loses)
            os.kill(os.getpid(), signal.SIGKILL)

    def _opened(self, file: BinaryIO, path: Path) -> None:
        self._contents[os.fstat(file.fileno()).st_ino] = (path, 0)
        self._names.append((path.parent, lambda: path.unlink(missing_ok=True)))

    def _note_synchronise(self, file: BinaryIO, path: Path) -> None:
        file.flush()
        status = os.fstat(file.fileno())
        self._contents[status.st_ino] = (path, status.st_size)

    def _note_rename(self, source: Path, target: Path) -> None:
        inode = source.stat().st_ino
        if inode in self._contents:
            self._contents[inode] = (target, self._contents[inode][1])
        before = self._kept(target)

        def back() -> None:
            target.unlink(missing_ok=True)
            if before is not None:
                os.link(before, target)

        self._names.append((target.parent, back))

    def _note_remove(self, path: Path) -> None:
        before = self._kept(path)
        if before is not None:
            self._names.append((path.parent, lambda: os.link(before, path)))

    def _note_make_folder(self, folder: Path) -> None:
        if not folder.exists():
            self._names.append((folder.parent, lambda: _remove_tree(folder)))

    def _note_synchronise_folder(self, folder: Path) -> None:
        self._names = [(changed, back) for changed, back in self._names if changed != folder]

    def _kept(self, path: Path) -> Path | None:
        """Another name for what is there now."""
        if not path.is_file():
            return None
        before = self._aside / f"{len(self._names)}-{self.calls}"
        os.link(path, before)
        return before

    def _lose(self, loses: str | int) -> None:
        drawn = random.Random(loses)  # a choice that can be made again
        for inode, (path, kept) in self._contents.items():
            if not path.is_file() or path.stat().st_ino != inode:
                continue  # Removed, or replaced by another.
            if path.stat().st_size > kept and (loses == "all" or _some(drawn)):
                os.truncate(path, kept)
        for _, back in reversed(self._names):
            if loses == "all" or _some(drawn):
                with suppress(OSError):
                    back()


def _some(drawn: random.Random) -> bool:
    return drawn.random() < 0.5


def _remove_tree(folder: Path) -> None:
    for name in sorted(folder.rglob("*"), reverse=True):
        name.rmdir() if name.is_dir() else name.unlink()
    folder.rmdir()
