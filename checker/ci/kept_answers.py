"""Answers on disk by their fingerprint, next to the machine code and trusted under the same
conditions: see `checker.compiler.kept_file`.

Each answer has a record of the values that the rules read by name. It is used if they read the same
values now; otherwise the search runs again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waterline.checker.ci.answer import answer_from
from waterline.checker.compiler.cache import cache_directory, trusted_cache
from waterline.checker.compiler.kept_file import read_sealed, write_sealed
from waterline.checker.compiler.problem_digest import reads_the_same
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Verdict

_BYTES_MAX = 1 << 24
_LASTING = ("max-states", "max-depth", "stop-at-first")
"""Reasons to stop that do not prevent caching: another run would stop there too."""


def answers_folder() -> Path:
    """Where answers are kept."""
    return cache_directory() / "answers"


def kept_values(name: str, problem: Problem) -> Mapping[str, Any] | None:
    """The values kept under this name; None where there are none that can be trusted."""
    if trusted_cache() is None:
        return None
    body = read_sealed(_file(name), bytes_max=_BYTES_MAX)
    if body is None:
        return None
    try:
        values: dict[str, Any] = json.loads(body)
        if values["fingerprint"] != name or not reads_the_same(problem, values["read"]):
            return None
        answer_from(values, problem)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
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
    named = {**values, "fingerprint": name}
    write_sealed(_file(name), json.dumps(named, separators=(",", ":")).encode())


def _file(name: str) -> Path:
    return answers_folder() / f"{name}.json"
