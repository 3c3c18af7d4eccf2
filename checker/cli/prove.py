"""`waterline prove`: claims proved for bounds of any size, by induction over the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import format_option, options_as, threads_option
from waterline.checker.cli.shared.own_options import bound_option, model_option
from waterline.checker.problem.distribution import require

if TYPE_CHECKING:
    pass

DEFAULT = "kip320"
DEFAULT_MESSAGE = "kraft-with-fresh-remote-leo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """The theorem, and how it is reported."""

    protocol: str | None
    grain: str | None
    replicas: str | None
    own_model: str | None
    bounds: tuple[tuple[str, int | bool], ...]
    search: bool
    certificate: str | None
    suggest: bool
    threads: int
    output_format: str


@click.command("prove", epilog=exit_codes.HELP)
@click.option(
    "--protocol",
    help=f"A version of the grain.  [default: {DEFAULT}; {DEFAULT_MESSAGE} with --grain message]",
)
@click.option(
    "--grain",
    type=click.Choice(["atomic", "message"]),
    help="The grain of the model.  [default: atomic]",
)
@click.option(
    "--replicas",
    type=click.Choice(["any", "2"]),
    help="How many replicas the proof is about; 2 for kip320 with --grain message, else any.",
)
@model_option
@bound_option
@click.option(
    "--search/--no-search",
    default=True,
    show_default=True,
    help="Test claims and lemmas on all states within small bounds first.",
)
@click.option(
    "--certificate",
    metavar="DIR",
    help="Write what each obligation took to this new directory if all is proved, for `waterline "
    "certify` to prove it again in less time.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Where a step leads out of the lemmas of --model, suggest lemmas that exclude the state "
    "before it, as Python to be pasted.",
)
@threads_option
@format_option
@options_as(ProveOptions)
def prove_command(options: ProveOptions) -> int:
    """Prove what `check` checks within bounds: by induction, for any number of replicas.

    The search tests the lemmas first. Then the solver z3 proves that they are true at first and
    stay so in every step, that no rule is in error, and that the claims follow (docs/proof.md).
    Exit 14 if a step leads out of the lemmas: the state before it need not be reachable. With
    --model it proves the claims of your own model, for any number of what falls away of its bounds;
    --set gives the bounds of the search.
    """
    require("z3", "prove", "prove")
    from waterline.checker.cli.proving import prove  # noqa: PLC0415 - z3 takes a while to load

    return prove(options)
