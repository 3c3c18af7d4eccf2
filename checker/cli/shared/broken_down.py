"""Message for a run that failed: what failed, what is kept, how to resume.

Whatever ends a run from outside, a full disk or an engine that is gone, the levels that it had
finished are kept if it has a run directory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from waterline.checker.problem.errors import Missing
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.answers import EngineFailed
from waterline.counterexamples.named_file import FULL, BadFile

if TYPE_CHECKING:
    from waterline.checker.storage.run_directory import RunDirectory


@contextmanager
def reporting_what_is_kept(kept: RunDirectory | None) -> Iterator[None]:
    """Adds to an error that ends a run what is kept, and how to go on.

    Raises `BadFile` for a full disk, and the errors of engines as they are.
    """
    try:
        yield
    except Missing as problem:
        if kept is None or not kept.manifest.levels:
            raise
        raise type(problem)(f"{problem}; {_going_on(kept)}") from problem
    except EngineFailed as problem:
        raise EngineFailed(f"{problem}; {_going_on(kept)}") from problem
    except OSError as problem:
        if problem.errno not in FULL:
            raise
        where = kept.storage.location if kept else tempfile.gettempdir()
        raise BadFile(f"{describe_os_error(problem, where)}; {_going_on(kept)}") from problem


def describe_os_error(problem: OSError, where: str = "") -> str:
    """`/x/y: Permission denied`, without Python's number; `where` if the system does not say."""
    where = problem.filename or where
    if problem.errno in FULL:
        full = os.strerror(problem.errno)
        # Nobody is named where it is a temporary file, or the standard output.
        where = where or f"what is printed, or in {tempfile.gettempdir()}"
        return f"there is no room left for {where} ({full}); free some"
    text = problem.strerror or str(problem)
    return f"{where}: {text}" if where else text


def _going_on(kept: RunDirectory | None) -> str:
    if kept is None:
        return "nothing of this run is kept; --run-dir keeps every finished level"
    location = kept.storage.location
    levels = quantity(len(kept.manifest.levels), "level")
    return f"{levels} are kept in {location}; go on with --resume {location}"
