"""`waterline certify`: a certificate, judged by interpreted rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    DEFAULT_ENGINE,
    ENGINES,
    require_engine,
    spark_options,
    take_engine,
)
from waterline.checker.cli.shared.own_options import finder, model_option
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity, roughly

if TYPE_CHECKING:
    from waterline.checker.analysis.certificate.certificate import Certificate
    from waterline.checker.analysis.certificate.certifying import Certified
    from waterline.checker.cli.shared.progress import Progress
    from waterline.checker.search.engines.choice import EngineChoice


@click.command(
    "certify",
    epilog=exit_codes.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("folder", metavar="DIR")
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
    help="How many processes judge side by side, with --engine local.",
)
@spark_options
def certify_command(folder: str, own_model: str | None, jobs: int | None, **options: Any) -> int:
    """Judge the certificate in DIR (check --certificate DIR) anew, by the rules as Python runs
    them.

    The initial state must be in its set of states, each step of each state must lead into the set,
    and what it says to hold must hold in each. Nothing that is compiled takes part. Exit 13 if it
    is not certified.
    """
    require("pyarrow", "arrow", "certify")
    from waterline.checker.analysis.certificate.certificate import open_certificate  # noqa: PLC0415 - pyarrow takes a while
    from waterline.checker.cli.kept.certificate_report import render_certified  # noqa: PLC0415

    choice = take_engine({"threads": 0, **options})
    require_engine(choice)
    if jobs is not None and choice.name != "local":
        raise click.UsageError("--jobs is for --engine local; leave it out, or ask for that")
    with showing(error_screen()) as progress:
        certificate = open_certificate(Path(folder), finder(own_model))
        if own_model is not None:
            # What is no function of the state could come out otherwise for the same one.
            from waterline.checker.user_models.vetting import vet  # noqa: PLC0415 - with the compiler

            vet(certificate.problem)
        done = _certify(certificate, choice, jobs, progress)
    screen().print(render_certified(certificate, done))
    return exit_codes.HOLDS if done.failure is None else exit_codes.NOT_CERTIFIED


def _certify(
    certificate: Certificate, choice: EngineChoice, jobs: int | None, progress: Progress
) -> Certified:
    if choice.name == "spark":
        from waterline.checker.analysis.certificate.on_spark import certify_on_spark  # noqa: PLC0415

        judging = f"judging {quantity(certificate.header.states, 'state')} on Spark"
        return certify_on_spark(
            certificate,
            choice,
            announce=progress.announce,
            watch=lambda tasks: progress.report(f"{judging}: {quantity(tasks, 'task')} done"),
        )
    from waterline.checker.analysis.certificate.certifying import certify  # noqa: PLC0415

    def watch(so_far: Certified) -> None:
        rate = so_far.states / max(so_far.seconds, 1e-9)
        of = f"{so_far.states:,} of {quantity(certificate.header.states, 'state')}"
        progress.report(f"judged {of}, {roughly(rate)}/s")

    return certify(certificate, jobs=jobs or 0, watch=watch)
