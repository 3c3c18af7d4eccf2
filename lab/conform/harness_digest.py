"""Digest of the harness: which steps it can cause, and how ways to outcomes are searched for."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from waterline.checker.kafka import confirm
from waterline.checker.problem.program_digest import program_digest

FOLDERS = (Path(confirm.__file__).parent, Path(__file__).parent)


@functools.cache
def harness_digest() -> str:
    """A name for all modules of the harness, and for the program that searches."""
    digest = hashlib.sha256(program_digest().encode())
    for path in modules():
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def modules() -> list[Path]:
    """Every module that is in the digest, in order."""
    return [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]
