"""`waterline convert`: a trace as a picture, a page, or a file of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile, write_files
from waterline.checker.cli.shared.own_options import model_option
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.report.pages.surroundings import DISTANCE, STATES_MAX


@click.command("convert", epilog=FILES_HELP)
@click.argument("trace", type=InputFile())
@click.option(
    "--to",
    "name",
    type=click.Choice(list(FORMATS)),
    required=True,
    help="The format (docs/formats.md).",
)
@click.option("--output", type=OutputFile(), help="Where to; else standard output.")
@click.option(
    "--distance",
    type=click.IntRange(0, 20),
    default=DISTANCE,
    show_default=True,
    help="dot, graphml: how many steps away from the trace a state may be.",
)
@click.option(
    "--graph-limit",
    "states_max",
    type=click.IntRange(1),
    default=STATES_MAX,
    show_default=True,
    help="dot, graphml: most states.",
)
@model_option
def convert_command(
    trace: Path,
    name: str,
    output: Path | None,
    distance: int,
    states_max: int,
    own_model: str | None,
) -> int:
    """Turn a trace, ours or ITF that convert wrote, into another format.

    It is replayed first, and refused if it does not end where its claim first breaks.
    """
    found = load_counterexample(trace, own_model)
    given = Converted(
        problem=found.problem, finding=found.finding, distance=distance, states_max=states_max
    )
    if output is None:
        # As in a file: whatever the terminal's encoding is, the document says that it is UTF-8.
        click.echo(FORMATS[name](given).encode("utf-8", errors="backslashreplace"), nl=False)
    else:
        write_files({output: lambda: FORMATS[name](given)})
    return exit_codes.HOLDS
