"""Cache folder of kernels and other kept files.

A folder that another user could have written to is not used. `checker.compiler.kept_file` states
the requirements on files.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import stat
import tempfile
from pathlib import Path

from waterline.checker.compiler.kept_file import is_ours_alone, read_sealed, write_sealed

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
