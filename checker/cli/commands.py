"""Table of commands, and the exit code and error line of any of them.

A command's module is imported when the command is run or asked for its help: each needs other
libraries, and some of those take longer than the command itself. A mistake of the user is one line
on standard error and exit code 2, before anything is started.
"""

from __future__ import annotations

import importlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from checker.cli.shared import exit_codes
from checker.cli.shared.whole_output import write_whole

COMMANDS = {
    "cache": ("kept.cache_command", "Show or clear what is kept from run to run."),
    "certify": ("kept.certify_command", "Judge a verdict's certificate by interpreted rules."),
    "check": ("check.command", "Say which invariants hold."),
    "compare": ("traces.compare_command", "A trace under another version, side by side."),
    "confirm": ("confirm.confirm_command", "Replay a counterexample on real brokers."),
    "confirm-catalogue": ("confirm.catalogue_command", "Replay every entry on releases of Kafka."),
    "conform": ("confirm.conform_command", "Walks through the model on real brokers."),
    "convert": ("traces.convert_command", "Turn a trace into a picture, or another tool's format."),
    "explain": ("traces.explain_command", "Say what a trace takes, and what repairs it."),
    "explain-logs": ("traces.explain_logs_command", "Say what brokers' logs tell of an incident."),
    "export": ("models.export_command", "Write a model of your own as a TLA+ module."),
    "gate": ("gate.command", "Run a file of expectations."),
    "kernel": ("models.kernel_command", "Show what the rules are compiled to."),
    "layout": ("models.layout_command", "Show the fields of a state, in bits."),
    "matrix": ("matrix.command", "Verdicts over versions, settings and faults."),
    "new": ("models.new_command", "Begin a model of your own."),
    "run": ("walks.run_command", "Step through a model by hand, or by a script."),
    "scenarios": ("scenarios.command", "The catalogue of known losses and divergences."),
    "simulate": ("walks.simulate_command", "Walks at random, beyond what can be explored."),
    "states": ("kept.states_command", "Write the states of a kept run as Parquet, for SQL."),
    "tour": ("check.tour_command", "Show what this is for."),
    "versions": ("models.versions_command", "The versions, and the rules they are made of."),
    "view": ("traces.view_command", "Step through a recorded trace."),
}
"""Each command's module, and what the list says of it. In the module `a-b` is `a_b_command`.

The file is `command.py` or ends in `_command.py`. A module that prints is in MAY_PRINT of
tests/test_architecture.py. What the command may import is a case of tests/test_imports.py.
"""


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
        """The command that is asked for. Raises `NoSuchCommand`, with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand:
            raise click.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

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
    module = importlib.import_module(f"checker.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    return command


@click.group(
    cls=Commands,
    epilog=exit_codes.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="waterline", prog_name="waterline")
def waterline() -> None:
    """Check Kafka's partition replication exhaustively: can a committed record be lost?"""


def run_command(name: str) -> int:
    """Run `waterline` or `check` on this process's arguments; returns the exit code.

    What is wrong with an option, a file or the machine is reported in one line.
    """
    write_whole()
    _forget_useless_sizes()
    command = command_of("check") if name == "check" else waterline
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
        from checker.cli.shared.error_messages import report  # noqa: PLC0415 - only for errors

        code = report(problem)
        if code is None:
            raise
        return code


def _forget_useless_sizes() -> None:
    """A screen of no columns shows nothing: where COLUMNS or LINES is no size, it is not heard."""
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "")
        if not (given.isdecimal() and int(given) > 0):
            os.environ.pop(name, None)
