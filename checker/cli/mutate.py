"""`waterline mutate`: leave out each guard of a model, and see which claim notices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waterline.checker.cli.shared.file_options import InputFile
from waterline.checker.cli.shared.options import format_option, options_as
from waterline.checker.cli.shared.own_options import bound_option
from waterline.checker.mutants.edits import KINDS

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MutateOptions:
    """The model and its bounds, which mutants, and what may stay unnoticed."""

    model: str
    bounds: tuple[tuple[str, int | bool], ...]
    only: tuple[str, ...]
    rules: tuple[str, ...]
    accept: Path | None
    max_states: int | None
    jobs: int | None
    output_format: str


@click.command("mutate")
@click.argument("model", metavar="FILE[:NAME]")
@bound_option
@click.option(
    "--only",
    type=click.Choice(KINDS),
    multiple=True,
    help="Only mutants of this kind; repeatable.",
)
@click.option("--rule", "rules", multiple=True, metavar="NAME", help="Only of this function.")
@click.option(
    "--accept",
    type=InputFile(),
    help="Mutants that no claim need notice, each with a reason: the lines that are printed, "
    "filled in (TOML).  [default: MODEL.mutants.toml in its folder, where there is one]",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    help="Most states of a mutant; by default 20 times those of the model, and at least 20,000.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    show_default="as many as cores and memory allow",
    help="How many processes judge mutants side by side.",
)
@format_option
@options_as(MutateOptions)
def mutate_command(options: MutateOptions) -> int:
    """Say which guard of a model matters: alter one place at a time, and see which claim notices.

    A mutant leaves out a guard or an effect, or relaxes or turns a comparison. Exit 3 if one
    survives without a reason: a claim is missing, or the guard is (docs/own-models.md).
    """
    from waterline.checker.cli.mutating import mutate  # noqa: PLC0415 - help needs no compiler

    return mutate(options)
