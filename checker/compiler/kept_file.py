"""Files that are kept from run to run: written whole, sealed with their name, read with distrust.

A seal is a SHA-256 of a file's name and its content. It reveals a file that is truncated, changed,
or copied to another name; it does not protect against a user with write access, who can compute a
valid seal. So a file is read only if it is regular, is ours or root's, is writable by no other
user, and is within the size limit. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

_MAGIC = b"waterline kept 2\n"
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO would wait for ever


def read_sealed(path: Path, *, bytes_max: int) -> bytes | None:
    """The content of a file that `write_sealed` wrote under this name; None where there is none."""
    try:
        if not is_ours_alone(path.parent.lstat()):
            return None
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            found = os.fstat(file.fileno())
            size = found.st_size
            if not stat.S_ISREG(found.st_mode) or not is_ours_alone(found) or size > bytes_max:
                return None
            whole = file.read(bytes_max + 1)
    except OSError:
        return None
    content = whole[len(_head(path.name, b"")) :]
    return content if whole == _head(path.name, content) + content else None


def write_sealed(path: Path, content: bytes) -> None:
    """Keep a content there; where that cannot be, do without."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".writing")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(path.name, content) + content)
            Path(aside).replace(path)
        except BaseException:  # An interrupt leaves nothing half-written either.
            Path(aside).unlink(missing_ok=True)
            raise


def is_ours_alone(found: os.stat_result) -> bool:
    """True if the file is ours or root's, not a link, and not writable by other users."""
    is_open = stat.S_ISLNK(found.st_mode) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid in {os.geteuid(), 0} and not is_open


def _head(name: str, content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(name.encode() + b"\n" + content).digest()
