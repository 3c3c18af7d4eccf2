"""Plain files of a run directory, opened without following links, and those of a finished level.

A user with write access to the directory could put a symbolic link there and make a run read or
overwrite any file of its user; a pipe or a device would block the run forever. So no link is
followed below the directory, which itself may be a link. A file is checked after it is opened: by
then its name may lead elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.problem.errors import Refused

_NEVER_WAITS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe is opened at once, and then refused."""
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a plain file",
}


class Damaged(Refused):
    """A file of a run is not what was written: missing, cut short, or changed."""


def open_plain(root: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a plain file, by its name within `root`; each folder on the way is opened.

    Raises `Damaged` for anything else, naming it, and `OSError`.
    """
    *folders, last = name.split("/")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    path = root
    try:
        for each in folders:
            path = path / each
            inner = _open(folder, each, path, os.O_RDONLY | os.O_DIRECTORY)
            os.close(folder)
            folder = inner
        path = path / last
        file = _open(folder, last, path, flags)
    finally:
        os.close(folder)
    try:
        _require_plain(os.fstat(file), path)
    except BaseException:
        os.close(file)
        raise
    return file


def require_own_folders(root: Path, name: str) -> None:
    """Raise `Damaged` if a folder on the way to the file `name` is a link."""
    path = root
    for each in name.split("/")[:-1]:
        path = path / each
        if path.is_symlink():
            raise _wrong_kind(path, stat.S_IFLNK)


def _open(folder: int, name: str, path: Path, flags: int) -> int:
    try:
        return os.open(name, flags | _NEVER_WAITS, 0o644, dir_fd=folder)
    except OSError as problem:
        problem.filename = str(path)
        if problem.errno not in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR):
            raise
        try:
            kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError:
            raise problem from None
        if flags & os.O_DIRECTORY == 0 and kind == stat.S_IFREG:
            raise
        raise _wrong_kind(path, kind) from None


def _require_plain(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _wrong_kind(path, stat.S_IFMT(found.st_mode))


def _wrong_kind(path: Path, kind: int) -> Damaged:
    return Damaged(
        f"{path} is {_KINDS.get(kind, 'no plain file')}, which no run puts there: "
        "remove it, and restore what it stands for, or begin the run anew in another directory"
    )


ALL_OWNERS = -1
"""The owner of a file that holds the states of all."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of states: its name within the storage, how many there are, and their CRC-32.

    `owner` is whose range of hashes it holds, of as many owners as its level had.
    """

    name: str
    rows: int
    crc: int
    owner: int = ALL_OWNERS


@dataclass(frozen=True, slots=True)
class LevelFiles:
    """A finished level: how many states, who explored it, and its files.

    Every file is sorted by hash. `owners` is how many equal ranges of hashes the files stand for, a
    file for each that is not empty; 0 where one file holds all.
    """

    depth: int
    states: int
    on: str
    owners: int
    files: tuple[StateFile, ...]
