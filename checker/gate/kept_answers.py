"""Answers on disk by their fingerprint, beside the machine code: see `checker.compiled.cache`.

A file holds a checksum and the values. One that is damaged, or in a folder that others can write
to, is no answer: the search is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checker.compiled.cache import cache_directory, trusted_cache
from checker.gate.answer import answer_from
from checker.problems.problem import Problem
from checker.result import Verdict

_MAGIC = "waterline answer 1"
_BYTES_MAX = 1 << 24
_LASTING = ("max-states", "max-depth", "stop-at-first")
"""What may have stopped a search whose answer is kept: another run would stop there too."""


def answers_folder() -> Path:
    """Where answers are kept."""
    return cache_directory() / "answers"


def kept_values(name: str, problem: Problem) -> Mapping[str, Any] | None:
    """The values kept under this name; None where there are none that can be trusted."""
    if trusted_cache() is None:
        return None
    path = answers_folder() / f"{name}.json"
    try:
        if not (_is_ours_alone(path.parent) and _is_ours_alone(path)):
            return None
        with path.open("rb") as file:
            head, _, body = file.read(_BYTES_MAX).partition(b"\n")
        if head.decode() != _head(body):
            return None
        values: dict[str, Any] = json.loads(body)
        answer_from(values, problem)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return values


def keep_answer(name: str, values: Mapping[str, Any]) -> None:
    """Keep an answer under this name, if it is one that lasts; do without where that cannot be."""
    reason = values["stopped_by"]
    if not values["complete"] and not str(reason).startswith(_LASTING):
        return
    verdicts = {verdict for verdict, _ in values["claims"].values()}
    if values["complete"] and Verdict.INCOMPLETE.value in verdicts:
        # A claim was not judged for want of memory, of which there may be more the next time.
        return
    if trusted_cache() is None:
        return
    body = json.dumps(values, separators=(",", ":")).encode()
    with contextlib.suppress(OSError):
        answers_folder().mkdir(mode=0o700, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=answers_folder(), prefix=name, suffix=".writing")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(f"{_head(body)}\n".encode() + body)
            Path(aside).replace(answers_folder() / f"{name}.json")
        except OSError:
            Path(aside).unlink(missing_ok=True)


def _head(body: bytes) -> str:
    return f"{_MAGIC} {hashlib.sha256(body).hexdigest()}"


def _is_ours_alone(path: Path) -> bool:
    found = path.lstat()
    is_open = stat.S_ISLNK(found.st_mode) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid in {os.geteuid(), 0} and not is_open
