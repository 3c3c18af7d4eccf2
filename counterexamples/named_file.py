"""Files named by a person: read within a limit, written atomically.

Only regular files are read or replaced. A pipe would wait for its other end, a device has no end or
acts when it is written to, and a symbolic link leads to a file that the person has not named. It is
here, and not with the commands that use it too, because trace files need it and this package
imports nothing of ours.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the system for a full disk."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}


class BadFile(Exception):
    """A file that a person named cannot be used; the message names it, the cause, the remedy."""


def read_named(path: str | os.PathLike[str], *, bytes_max: int) -> bytes:
    """The content of a regular file of at most `bytes_max` bytes. Raises `BadFile`."""
    try:
        require_regular(path)
        # Without waiting, in case that it has become a pipe since.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            _require_regular(path, os.fstat(file.fileno()).st_mode)
            content = file.read(bytes_max + 1)
    except OSError as problem:
        raise BadFile(f"{path} cannot be read: {problem.strerror}") from None
    if len(content) > bytes_max:
        raise BadFile(f"{path} is larger than {bytes_max:,} bytes, the most that is read")
    return content


def require_regular(path: str | os.PathLike[str]) -> None:
    """See that `path` may be read, by its kind, without opening it. Raises `BadFile`."""
    try:
        _require_regular(path, Path(path).stat().st_mode)
    except OSError as problem:
        raise BadFile(f"{path} cannot be read: {problem.strerror}") from None


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` at once if the block ends without an error.

    A reader never sees half of it. After an error, `path` is unchanged and no draft is left. A file
    that is replaced hands on its permissions. Raises `BadFile`.
    """
    target = Path(path)
    draft = target.with_name(f".{secrets.token_hex(8)}.writing")
    try:
        mode = _mode_of(target)
        try:
            with draft.open("xb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as problem:
        remedy = "free room, or name another place" if problem.errno in FULL else "name another"
        raise BadFile(f"{target} cannot be written: {problem.strerror}; {remedy}") from None


def require_replaceable(path: str | os.PathLike[str]) -> None:
    """See that `written_whole` may be used at `path`, before there is anything to write.

    Raises `BadFile`.
    """
    target = Path(path)
    try:
        is_there = _mode_of(target) is not None
    except OSError as problem:
        raise BadFile(f"{path} cannot be written: {problem.strerror}") from None
    if not os.access(target.parent, os.W_OK) or (is_there and not os.access(target, os.W_OK)):
        raise BadFile(f"{path} cannot be written; name another place")


def _mode_of(target: Path) -> int | None:
    """The mode of a regular file, None where there is none. Raises `BadFile` and `OSError`."""
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return None
    _require_regular(target, mode)
    return mode


def _require_regular(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise BadFile(f"{path} is {kind}; name a regular file")
