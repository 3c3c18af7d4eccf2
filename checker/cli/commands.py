"""Table of commands, and the exit code and error line of any of them.

A command's module is imported when the command is run or asked for its help: each needs other
libraries, and some of those take longer than the command itself. A mistake of the user is one line
on standard error and exit code 2, before anything is started.
"""

from __future__ import annotations

import importlib
import io
import os
import select
import sys
from typing import TYPE_CHECKING, cast

import click
from click.shell_completion import CompletionItem

from waterline.checker.cli.shared import exit_codes
from waterline.checker.problem.distribution import NAME

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


GROUPS = {
    "Your Kafka cluster": {
        "matrix": ("matrix", "Which faults can lose records with your settings."),
        "ask": ("ask", "The cluster as it is now: what a further fault, or a restart, does."),
        "explain-logs": ("explain_logs", "What may have happened, from brokers' logs."),
    },
    "Kafka's protocol, by release and KIP": {
        "check": ("check", "Say which invariants hold; show how others break."),
        "scenarios": ("scenarios", "The catalogue of known losses and divergences."),
        "versions": ("versions", "The versions, and the rules they are made of."),
        "prove": ("prove", "Prove claims for any number of replicas, by induction."),
        "tour": ("tour", "A loss, its repair, and a larger space on Spark."),
        "confirm": ("confirm", "Replay a counterexample on real brokers."),
    },
    "A model of your own": {
        "new": ("models", "Begin a model; `check --model FILE` checks it."),
        "run": ("run", "Take steps that you choose, and see what can follow."),
        "ties": ("ties", "Say whether the code that a model names was reviewed."),
        "paths": ("paths", "Write tests of your implementation: paths that cover a model."),
        "mutate": ("mutate", "Say which guard of a model matters, and which claim notices."),
        "export": ("models", "Write a model as a TLA+ module."),
        "layout": ("models", "Show the fields of a state, in bits."),
        "kernel": ("models", "Show what the rules are compiled to."),
    },
    "A counterexample": {
        "view": ("view", "Step through a recorded trace."),
        "explain": ("explain", "Say which steps it needs, and what prevents it."),
        "compare": ("compare", "The same choices under another version."),
        "convert": ("convert", "Make it a picture, or another tool's format."),
    },
    "CI, and verdicts to keep": {
        "gate": ("gate", "Fail where a verdict is not the expected one."),
        "mcp": ("mcp", "Serve check, explain, step and mutate to an assistant."),
        "certify": ("certify", "Judge a verdict's certificate by interpreted rules."),
    },
    "Large spaces, and what is kept": {
        "simulate": ("simulate", "Random walks, where the space is too large."),
        "states": ("states", "Write the states of a kept run as Parquet, for SQL."),
        "cache": ("cache", "Show or clear what is kept from run to run."),
    },
}
"""The commands by who reads the list: each one's module, and what the list says of it.

In the module, which several may share, `a-b` is `a_b_command`. What needs an engine is in another
module, which the command imports when it runs. A module that prints is in MAY_PRINT of
tests/style/test_architecture.py. What the command may import is a case of tests/test_imports.py;
tests/cli/test_programs.py and test_options.py have a list of all. Documents: README.md;
docs/language.md, "Where it works", and SECURITY.md if it runs a model file; docs/formats.md if it
writes JSON.
"""
COMMANDS = {name: each for commands in GROUPS.values() for name, each in commands.items()}


class Commands(click.Group):
    """A group whose list is known without the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None if there is none of this name."""
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named. Raises `NoSuchCommand`, with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand:
            raise click.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists into the help."""
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), text) for name, (_, text) in commands.items()]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin so, and the group's own options."""
        return [
            *(
                CompletionItem(name, help=text)
                for name, (_, text) in COMMANDS.items()
                if name.startswith(incomplete)
            ),
            # Not those of click.Group, which imports every command to ask whether it is hidden.
            *click.Command.shell_complete(self, ctx, incomplete),
        ]


def command_of(name: str) -> click.Command:
    """A command by its name."""
    module = importlib.import_module(f"waterline.checker.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    return command


@click.group(
    cls=Commands,
    epilog=exit_codes.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name=NAME, prog_name="waterline")
def waterline() -> None:
    """Check Kafka's partition replication exhaustively: can a committed record be lost?"""


def run_command(name: str) -> int:
    """Run `waterline` or `check` on this process's arguments; returns the exit code."""
    return run(command_of("check") if name == "check" else waterline, name)


def run(command: click.Command, name: str) -> int:
    """Run a command on this process's arguments; returns the exit code.

    A mistake in an option or a file, or a failure of the machine, is reported in one line.
    """
    write_whole()
    _forget_useless_sizes()
    try:
        return _outcome_of(command, name)
    except SystemExit as ended:
        # Click ends a command so that has completed a line for a shell. Else Click and Rich do
        # when a pipe is closed that they write to, and never otherwise.
        return exit_codes.READER_GONE if ended.code else exit_codes.HOLDS


def _outcome_of(command: click.Command, name: str) -> int:
    try:
        ended = int(command.main(prog_name=name, standalone_mode=False) or exit_codes.HOLDS)
        if sys.stdout is not None:  # the parent process closed it
            sys.stdout.flush()
        return ended
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message(), err=True)
        return exit_codes.BAD_USAGE
    except click.Abort as aborted:
        if isinstance(aborted.__cause__, EOFError):
            # Click takes it for the end of what a user types; here it is a mistake of ours.
            raise aborted.__cause__ from None
        raise KeyboardInterrupt from None
    except Exception as problem:
        from waterline.checker.cli.shared.errors import report  # noqa: PLC0415 - only for errors

        code = report(problem)
        if code is None:
            raise
        return code


def _forget_useless_sizes() -> None:
    """Ignore COLUMNS and LINES unless they are positive: a screen without columns shows nothing."""
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "")
        if not (given.isdecimal() and int(given) > 0):
            os.environ.pop(name, None)


def write_whole() -> None:
    """Let `sys.stdout` and `sys.stderr` write on until all is written; to be called once.

    Unbuffered (`python -u`, PYTHONUNBUFFERED, usual in containers) Python writes once and drops
    what the system did not take: on a disk that is nearly full, or into a pipe that does not wait.
    """
    if (whole := _whole(sys.stdout)) is not None:
        sys.stdout = whole
    if (whole := _whole(sys.stderr)) is not None:
        sys.stderr = whole


class _Waiting(io.FileIO):
    """A file that waits where it can take nothing now. A buffer above it writes short writes on.

    It fails once: what the buffer still holds then, and would write at the end, goes nowhere.
    """

    _has_failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        """How many bytes were written, at least one of them."""
        if self._has_failed:
            return memoryview(data).nbytes
        try:
            # It returns None for a pipe that is full, whatever the stubs say.
            while (written := cast("int | None", super().write(data))) is None:
                room = select.poll()
                room.register(self.fileno(), select.POLLOUT)
                room.poll()
        except OSError:
            self._has_failed = True
            raise
        return written


def _whole(stream: object) -> io.TextIOWrapper | None:
    """Return a stream that writes everything; None if `stream` is not Python's own."""
    if not isinstance(stream, io.TextIOWrapper) or stream not in (sys.__stdout__, sys.__stderr__):
        return None
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Waiting(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        # A character that the encoding lacks is no reason to lose a verdict.
        errors="replace" if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
