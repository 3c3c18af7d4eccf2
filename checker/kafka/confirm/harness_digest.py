"""Digest of the harness: which steps it can cause, and how ways to outcomes are searched for."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from waterline.checker.problem.program_digest import program_digest, text_of

HARNESS = Path(__file__).parent


@functools.cache
def harness_digest() -> str:
    """A name for all modules of the harness, and for the program that searches."""
    text = text_of(sorted(HARNESS.rglob("*.py")))
    return hashlib.sha256(program_digest().encode() + text).hexdigest()[:32]
