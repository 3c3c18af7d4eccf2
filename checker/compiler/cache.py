"""Cache folder of kernels and other files that are kept from run to run.

A folder that another user could have written to is not used. A kept file is written whole, sealed
with its name, and read with distrust. A seal is a SHA-256 of a file's name and its content. It
reveals a file that is truncated, changed, or copied to another name; it does not protect against a
user with write access, who can compute a valid seal. So a file is read only if it is regular, is
ours or root's, is writable by no other user, and is within the size limit. Nothing is ever
unpickled.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
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


_BYTES_MAX = 1 << 28


def cache_directory() -> Path:
    """Where compiled kernels are kept: WATERLINE_CACHE, or the user's cache directory."""
    if chosen := os.environ.get("WATERLINE_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "waterline"


def trusted_cache() -> Path | None:
    """The cache directory, made where there is none; None where it cannot be used."""
    directory = cache_directory()
    return directory if distrust(directory) is None else None


@functools.cache
def private_folder() -> Path:
    """A folder for what cannot be kept, removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="waterline-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def distrust(directory: Path) -> str | None:
    """Return the reason to distrust `directory`, with the remedy; None to trust it.

    It must be ours or root's, and neither it nor its parents may be open to others. A folder like
    /tmp, where users cannot remove each other's files, is not open.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = directory.resolve()
        found = directory.lstat()
        if found.st_uid not in {os.geteuid(), 0}:
            return (
                f"{directory} is not used, because it belongs to another user; "
                "set WATERLINE_CACHE to a folder of your own"
            )
        if not is_ours_alone(found):
            return (
                f"{directory} is not used, because others can write to it; "
                f"make it yours alone (chmod go-w {directory}), or set WATERLINE_CACHE"
            )
        for parent in directory.parents:
            mode = parent.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                return (
                    f"{directory} is not used, because others can write to {parent}; "
                    "set WATERLINE_CACHE to another folder"
                )
    except OSError as problem:
        return f"{directory} is not used: {problem.strerror}; set WATERLINE_CACHE to another folder"
    return None


def lookup(name: str) -> bytes | None:
    """Return the content kept under this name; None without a trustworthy one."""
    if trusted_cache() is None:
        return None
    return read_sealed(folder() / f"{name}.o", bytes_max=_BYTES_MAX)


def keep(name: str, content: bytes) -> None:
    """Keep a content under this name; where that cannot be, do without."""
    if trusted_cache() is not None:
        write_sealed(folder() / f"{name}.o", content)


def folder() -> Path:
    """The folder of the object files."""
    return cache_directory() / "kernels"
