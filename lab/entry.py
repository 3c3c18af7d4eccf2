"""Entry of the laboratory's commands: errors and exit codes are those of `waterline`."""

from __future__ import annotations

import sys

import click

from waterline.checker.cli.commands import run
from waterline.checker.cli.shared import exit_codes


def run_here(command: click.Command, package: str) -> int:
    """Run the command of a package on this process's arguments; returns the exit code."""
    try:
        return run(command, f"python -m {package}")
    except KeyboardInterrupt:
        print("interrupted, nothing may be concluded: INCOMPLETE", file=sys.stderr)
        return exit_codes.INCOMPLETE
