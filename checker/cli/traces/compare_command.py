"""`waterline compare`: a recorded trace under another version or setting, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import OutputFile
from waterline.checker.cli.shared.grouped_help import GroupedCommand
from waterline.checker.cli.shared.options import (
    FEATURE_NAMES,
    PROTOCOLS,
    OneOf,
    environment_options,
    format_option,
)
from waterline.checker.cli.shared.own_options import bound_option, model_option
from waterline.model.message.features import TRUNCATIONS


@click.command(
    "compare",
    cls=GroupedCommand,
    epilog=exit_codes.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--protocol",
    type=OneOf(PROTOCOLS),
    metavar="VERSION",
    help=f"The other version, one of {', '.join(PROTOCOLS)}; default: the trace's own.",
)
@click.option(
    "--with",
    "added",
    type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
    metavar="FEATURE",
    multiple=True,
    help="Add a rule to it; repeatable; `waterline versions` lists them.",
)
@click.option(
    "--without",
    "removed",
    type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
    metavar="FEATURE",
    multiple=True,
    help="Take a rule out of it; repeatable.",
)
@environment_options
@model_option
@bound_option
@click.option(
    "--html",
    "html_file",
    type=OutputFile(),
    help="Write it there as well, as one page to step through.",
)
@format_option
def compare_command(**options: Any) -> int:
    """Make the choices of a recorded trace again under another version, side by side.

    TRACE is a file as `check --trace-dir` writes it. What is not given is as in the trace. Records,
    faults and decisions come in the same order; docs/counterexamples.md says what becomes of a step
    that the other version does not have, and which steps it takes besides.

    A claim about recovery or liveness is not judged in the other version: that needs all that can
    follow. `check` decides it there.
    """
    from waterline.checker.cli.traces.comparing import compare  # noqa: PLC0415 - help needs none of it

    return compare(options)
