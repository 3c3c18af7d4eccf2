"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waterline.checker.storage.storage import BadLocation


def require_new(out: Path) -> None:
    """Raise `BadLocation` unless `out` is absent or an empty directory."""
    if out.exists() and not out.is_dir():
        raise BadLocation(f"{out} is a file; name a directory to write to")
    if out.is_dir() and any(out.iterdir()):
        raise BadLocation(f"{out} is not empty; name a new directory to write to")


@contextmanager
def written_aside(out: Path) -> Iterator[Path]:
    """A folder that takes its place at `out` when all went well; else nothing is left.

    Raises `BadLocation` where `out` is neither new nor empty.
    """
    require_new(out)
    # A link to a folder stands for that folder: only what is no link can be replaced.
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = out.parent / f".{out.name}.writing-{os.urandom(4).hex()}"
    folder.mkdir()
    try:
        yield folder
        folder.replace(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
