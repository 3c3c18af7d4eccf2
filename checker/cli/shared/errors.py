"""Expected errors: one line and an exit code each, and what is kept of a run that failed.

Any other error is a bug. Whatever ends a run from outside, a full disk or an engine that is gone,
the levels that it had finished are kept if it has a run directory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.screen import error_screen
from waterline.checker.problem.errors import Missing, Refused
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.engine import EngineFailed
from waterline.checker.search.rule_errors import Raised
from waterline.counterexamples import TraceError
from waterline.counterexamples.named_file import FULL, BadFile
from waterline.counterexamples.style import BAD
from waterline.model.core.errors import BadCondition, BadEnvironment, RaisedAtStart

if TYPE_CHECKING:
    from waterline.checker.storage.run_directory import RunDirectory


_CODES: dict[type[Exception], int] = {
    RaisedAtStart: exit_codes.RAISED,
    **dict.fromkeys(
        (click.ClickException, BadEnvironment, BadFile, OSError, Refused, TraceError),
        exit_codes.BAD_USAGE,
    ),
    EngineFailed: exit_codes.INTERNAL_ERROR,
    MemoryError: exit_codes.INTERNAL_ERROR,
    Raised: exit_codes.RAISED,
}


def report(problem: Exception) -> int | None:
    """Print a one-line message and return the exit code; None for errors that are not ours."""
    for kind, code in _CODES.items():
        if isinstance(problem, kind):
            lines = problem.lines if isinstance(problem, Refused) else (_describe(problem),)
            if type(problem) is BadEnvironment:
                lines = tuple(str(problem).splitlines())  # of all mistakes of a model
            for line in lines:
                fail(line, code)
            if isinstance(problem, BadCondition) and problem.text:
                error_screen().print(Text(problem.pointed), soft_wrap=True)
            return code
    return None


def _describe(problem: Exception) -> str:
    match problem:
        case click.ClickException():
            return problem.format_message()
        case Raised():
            return f"{problem} in {problem.describe_state}"
        case OSError():
            return describe_os_error(problem)
        case _:
            return str(problem) or "out of memory"


def fail(message: str, code: int) -> int:
    """Print the line on standard error; returns the code."""
    line = Text("error: ", style=BAD).append(" ".join(message.split()), style="default")
    error_screen().print(line, soft_wrap=True)
    return code


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
