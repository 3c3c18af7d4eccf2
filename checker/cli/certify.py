"""`waterline certify`: a certificate, judged by interpreted rules, and the report of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    DEFAULT_ENGINE,
    ENGINES,
    EngineOptions,
    options_as,
    spark_options,
)
from waterline.checker.cli.shared.own_options import model_option
from waterline.checker.problem.distribution import require

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyOptions:
    """The certificate, and where it is judged."""

    folder: Path
    own_model: str | None
    jobs: int | None
    solver: str
    engine: EngineOptions


@click.command("certify", epilog=exit_codes.HELP)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@model_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    show_default=DEFAULT_ENGINE,
    help="local judges in processes of this machine and never starts Spark.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    show_default="one a core",
    help="How many processes judge side by side, with --engine local; solvers, of a proof.",
)
@click.option(
    "--solver",
    type=click.Choice(["z3", "cvc5"]),
    default="z3",
    show_default=True,
    help="The solver that proves the obligations of a proof again.",
)
@spark_options
@options_as(CertifyOptions)
def certify_command(options: CertifyOptions) -> int:
    """Judge the certificate in DIR (check --certificate DIR) anew, by the rules as Python runs
    them.

    The initial state must be in its set of states, each step of each state must lead into the set,
    and what it says to hold must hold in each. Nothing that is compiled takes part. Of a proof
    (prove --certificate DIR) each obligation is proved again by the solver. Exit 13 if it is not
    certified.
    """
    from waterline.checker.analysis.certificate.reading import is_of_proof  # noqa: PLC0415 - msgspec

    if is_of_proof(options.folder):
        require("z3", "prove", "certify")
        if options.solver == "cvc5":
            require("cvc5", "cvc5", "--solver cvc5")
        from waterline.checker.cli.proving import certify_proof  # noqa: PLC0415 - z3

        return certify_proof(options)
    if options.solver != "z3":
        raise click.UsageError("--solver is for the certificate of a proof; leave it out")
    require("pyarrow", "arrow", "certify")
    from waterline.checker.cli.certifying import certify_states  # noqa: PLC0415 - pyarrow

    return certify_states(options)
