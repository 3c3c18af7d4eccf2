"""Every change that a run makes on disk, one function each.

A run can be killed between any two of them. They are together here so that the tests can do that:
they put functions of their own in the place of these, which count, and at a chosen call kill the
process or take back what a power loss would take (`lab/fuzz/faults/dying.py`). So callers say
`disk_calls.rename(...)`, and never import a name from here.

An error names the file it is about, also where the system's own does not.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ASIDE = ".writing-"
"""Prefix of the names of unfinished files."""


def make_folder(folder: Path) -> None:
    """A folder, and those it lies in. Once these are synchronised it survives a power loss."""
    with _about(folder):
        folder.mkdir(parents=True, exist_ok=True)


def make_new_folder(folder: Path) -> bool:
    """A folder; False if it is there already."""
    with _about(folder):
        try:
            folder.mkdir()
        except FileExistsError:
            return False
    return True


def open_aside(folder: Path) -> tuple[BinaryIO, Path]:
    """Open a new file in a folder, under a temporary name that no reader looks for."""
    with _about(folder):
        handle, name = tempfile.mkstemp(dir=folder, prefix=ASIDE)
    # mkstemp lets only its owner read; others on a cluster may have to.
    os.fchmod(handle, 0o644)
    return os.fdopen(handle, "wb"), Path(name)


def write(file: BinaryIO, path: Path, data: bytes | memoryview) -> None:
    """Append to an open file, so that the next reader finds it."""
    with _about(path):
        file.write(data)
        file.flush()


def synchronise(file: BinaryIO, path: Path) -> None:
    """The contents of an open file survive a power loss from now on."""
    with _about(path):
        os.fsync(file.fileno())


def rename(source: Path, target: Path) -> None:
    """Put a file in its place at once, over whatever was there."""
    with _about(target):
        source.replace(target)


def synchronise_folder(folder: Path) -> None:
    """Make the names of a folder's files durable: they survive a power loss from now on."""
    with _about(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove(path: Path) -> None:
    """Remove a file that may be there."""
    with _about(path):
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.filename is None:
            problem.filename = str(path)
        raise
