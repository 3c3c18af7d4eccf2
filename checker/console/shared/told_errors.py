"""Errors that are told in one line, and their exit codes; any other is a bug of ours."""

from __future__ import annotations

import click
from rich.text import Text

from checker.console.shared import exit_codes
from checker.console.shared.broken_down import told_os_error
from checker.console.shared.screen import error_screen
from checker.engines.answers import EngineFailed
from checker.errors import Refused
from checker.faults import Raised
from counterexamples import BadFile, TraceError
from model.kit.errors import BadCondition, BadEnvironment

_CODES: dict[type[Exception], int] = {
    **dict.fromkeys(
        (click.ClickException, BadEnvironment, BadFile, OSError, Refused, TraceError),
        exit_codes.BAD_USAGE,
    ),
    EngineFailed: exit_codes.INTERNAL_ERROR,
    MemoryError: exit_codes.INTERNAL_ERROR,
    Raised: exit_codes.RAISED,
}


def tell(problem: Exception) -> int | None:
    """Tell it in one line; returns its exit code, None if it is no error that is told."""
    for kind, code in _CODES.items():
        if isinstance(problem, kind):
            fail(_told(problem), code)
            if isinstance(problem, BadCondition) and problem.text:
                error_screen().print(Text(problem.pointed), soft_wrap=True)
            return code
    return None


def _told(problem: Exception) -> str:
    match problem:
        case click.ClickException():
            return problem.format_message()
        case Raised():
            return f"{problem} in {problem.told_state}"
        case OSError():
            return told_os_error(problem)
        case _:
            return str(problem) or "out of memory"


def fail(message: str, code: int) -> int:
    """Print the line on standard error; returns the code."""
    line = Text("error: ", style="bold red").append(" ".join(message.split()), style="default")
    error_screen().print(line, soft_wrap=True)
    return code
