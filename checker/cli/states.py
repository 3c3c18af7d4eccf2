"""`waterline states`: a kept run as Parquet tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.errors import describe_os_error
from waterline.checker.cli.shared.options import threads_option, where_option
from waterline.checker.cli.shared.own_options import finder, model_option
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity, rough_time, roughly
from waterline.counterexamples.named_file import BadFile

if TYPE_CHECKING:
    from waterline.checker.analysis.export import Exporting


_TELLING_SECONDS = 1.0
"""Before that a rate says nothing: the first levels are small."""


@click.command("states")
@click.argument("run_dir", metavar="DIR")
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    help="A directory that is new or empty.",
)
@model_option
@where_option("Only the states in which this is true; as s.leo[0] > 1.")
@click.option("--steps", is_flag=True, help="Also every transition: about three times the rows.")
@threads_option
def states_command(
    run_dir: str,
    out: str,
    where: str | None,
    steps: bool,
    threads: int,
    own_model: str | None,
) -> int:
    """Write the states of the run kept in DIR (check --run-dir DIR) as Parquet tables.

    One row a state, every field a column, with its depth and the least step that leads there. Any
    reader of Parquet can ask them in SQL. The run is only read; it may still be going on.
    """
    require("pyarrow", "arrow", "states")
    from waterline.checker.analysis.export import export  # noqa: PLC0415 - pyarrow takes a while

    if "://" in out:
        raise click.UsageError(f"--out: {out} is no directory of this machine; copy it from one")
    if where is not None and steps:
        raise click.UsageError("--where picks states and not steps; leave out --steps")
    with showing(error_screen()) as progress:
        try:
            done = export(
                run_dir,
                Path(out),
                finder(own_model),
                steps=steps,
                where=where,
                threads=threads,
                watch=lambda now: progress.report(line_of(now)),
                announce=progress.announce,
            )
        except OSError as problem:
            raise BadFile(describe_os_error(problem, out)) from problem
    whole = "all of a complete run" if done.complete else "of a run that was stopped early"
    of = quantity(done.states, "state")
    if where is not None:
        of = f"{done.picked:,} of {of}"
    wrote = f"wrote {of}, {whole}, to {Path(out) / 'states'}"
    say(wrote, on=screen())
    if done.steps is not None:
        wrote = f"wrote {quantity(done.steps, 'step')} to {Path(out) / 'steps'}"
        say(wrote, on=screen())
    return exit_codes.HOLDS


def line_of(now: Exporting) -> str:
    """`states: level 12, 1,377,811 of 1,988,158, 430 k/s, about 1 s left`"""
    line = f"{now.doing}: level {now.depth}, {now.done:,} of {now.total:,}"
    if now.seconds < _TELLING_SECONDS:
        return line
    rate = now.done / now.seconds
    if now.done == now.total:
        return f"{line}, {roughly(rate)}/s, finishing"
    left = rough_time((now.total - now.done) / rate)
    return f"{line}, {roughly(rate)}/s, about {left} left"
