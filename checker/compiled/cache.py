"""Machine code on disk: object files by the name of all that they were made of.

A file holds a checksum and the code. It is written aside and renamed, and verified before it is
loaded: one that is cut short, changed or empty is made anew. Nothing is ever unpickled. A folder
that somebody else could have written to is not used.
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

_MAGIC = b"waterline kernel 1\n"


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
    """Why nothing is to be loaded from `directory`, as a sentence with the remedy; None: it may be.

    It must be ours or root's, and neither it nor the folders that it is in may be open to others.
    A folder as /tmp, where nobody can remove what is another's, is not open in this sense.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = directory.resolve()
        if not _is_ours(directory):
            return (
                f"{directory} is not used, because it belongs to another user; "
                "set WATERLINE_CACHE to a folder of your own"
            )
        if not _is_ours_alone(directory):
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


def _is_ours(path: Path) -> bool:
    return path.lstat().st_uid in {os.geteuid(), 0}


def _is_ours_alone(path: Path) -> bool:
    mode = path.lstat().st_mode
    is_open = stat.S_ISLNK(mode) or mode & (stat.S_IWGRP | stat.S_IWOTH)
    return _is_ours(path) and not is_open


def kept(name: str) -> bytes | None:
    """The code kept under this name; None where there is none that can be trusted."""
    if trusted_cache() is None:
        return None
    path = folder() / f"{name}.o"
    try:
        if not all(_is_ours_alone(each) for each in (path.parent, path)):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + hashlib.sha256().digest_size
    code = content[head:]
    return code if content[:head] == _head(code) else None


def keep(name: str, code: bytes) -> None:
    """Keep code under this name; where that cannot be, do without."""
    if trusted_cache() is None:
        return
    path = folder() / f"{name}.o"
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f"{name}.", suffix=".writing")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(code) + code)
            Path(aside).replace(path)
        except OSError:
            Path(aside).unlink(missing_ok=True)


def folder() -> Path:
    """The folder of the object files."""
    return cache_directory() / "kernels"


def _head(code: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(code).digest()
