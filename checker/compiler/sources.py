"""The program's own sources: their functions, and a digest of their bytes.

The digest is missing if a source was changed shortly before this process began or since: the code
that runs may then be older than the file.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import time
import types
from collections.abc import Iterable
from pathlib import Path

PACKAGES = Path(__file__).parents[2]
COMPILER = (
    "checker/compiler",
    "checker/problem",
    "model/core",
)
"""Folders and modules that write a program's text. A test shows that the compiler imports no
others. Rules may lie elsewhere: their values are looked up.
"""
SETTLED_SECONDS = 60.0
"""How long before this process a source must have been left alone: more than importing it takes."""
_BEGAN = time.time()


def settled_digest(places: tuple[str, ...]) -> str | None:
    """A name for the sources in these places; None where they may not be what runs."""
    try:
        changed = max(path.stat().st_ctime for path in sources_in(places))
        # A program sent to an executor is read from a zip: there are no such files.
        return _bytes_digest(places) if changed < _BEGAN - SETTLED_SECONDS else None
    except OSError:
        return None


def stands_in(function: types.FunctionType, places: tuple[str, ...]) -> bool:
    """True if a function is one of the sources in these places."""
    module = sys.modules.get(function.__module__)
    if module is None or vars(module) is not function.__globals__:
        return False
    return getattr(module, "__file__", None) in _files_in(places)


@functools.cache
def sources_in(places: tuple[str, ...]) -> tuple[Path, ...]:
    """The modules in these folders, and those that are named."""
    return tuple(path for each in places for path in _modules_of(PACKAGES / each))


def _modules_of(place: Path) -> Iterable[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else (place,)


@functools.cache
def _files_in(places: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(str, sources_in(places)))


@functools.cache
def _bytes_digest(places: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in sources_in(places):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGES)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
