"""Expected errors: one line and an exit code each; any other error is a bug."""

from __future__ import annotations

import click
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.broken_down import describe_os_error
from waterline.checker.cli.shared.screen import error_screen
from waterline.checker.problem.errors import Refused
from waterline.checker.search.engines.answers import EngineFailed
from waterline.checker.search.rule_errors import Raised
from waterline.counterexamples import TraceError
from waterline.counterexamples.named_file import BadFile
from waterline.counterexamples.style import BAD
from waterline.model.core.errors import BadCondition, BadEnvironment, RaisedAtStart

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
