"""`waterline conform`: walks through the model, taken on brokers of a released Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.confirm.broker_options import jars_option
from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile
from waterline.checker.kafka.confirm.releases import kafka_release

HELP = """\b
Exit codes:
  0   every step that was compared agreed, or showed a known difference
  2   bad usage, no Java, no jars, a broker that does not come up
  20  interrupted; what was compared until then is shown
  31  brokers did something else than the model
  32  nothing could be compared
"""


@click.command(
    "conform",
    short_help="Walks through the model on real brokers.",
    epilog=f"{HELP}\n{FILES_HELP}",
)
@click.option(
    "--kafka",
    required=True,
    metavar="RELEASE",
    help="Whose brokers, as 0.10.2.2, 3.9.1:kraft, 4.2.0:kraft or 4.2.0:elr.",
)
@click.option(
    "--walks",
    type=click.IntRange(0),
    default=25,
    show_default=True,
    help="Walks by chance, those in --results included.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="Most steps of a walk by chance.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="What chance goes by.")
@click.option(
    "--circumstances",
    "names",
    multiple=True,
    metavar="NAME",
    help="What may happen, as docs/confirm.md has it; repeatable; all without it.",
)
@click.option(
    "--aim/--no-aim",
    default=True,
    show_default=True,
    help="First walk to every outcome of the model that was not compared yet.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    default=20_000_000,
    show_default=True,
    help="With --aim: go through no more states than that to find the outcomes.",
)
@click.option("--plan", is_flag=True, help="Only find the outcomes for --results; start no broker.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Begin no step after so long; the same command goes on from --results.",
)
@click.option(
    "--trace",
    type=InputFile(),
    help="Instead of walks by chance: take the steps in this file, as --trace-dir writes it.",
)
@click.option(
    "--trace-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the first disagreement there, with as few steps as are found.",
)
@jars_option
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add every plan and walk to this file, and go on from what it has.",
)
@click.option(
    "--markdown",
    type=OutputFile(),
    help="Write the figures of all releases in --results into this document.",
)
def conform_command(**options: Any) -> int:
    """Walk through the model of a release, each step taken on its brokers and compared.

    Several walks share a started cluster, with a new topic each. Everything runs on this machine
    and listens on loopback only.
    """
    release = kafka_release(options["kafka"])
    if options["markdown"] is not None and options["results"] is None:
        raise click.UsageError("--markdown tells of the runs in --results; name that file too")
    if options["plan"] and options["results"] is None:
        raise click.UsageError("--plan is written into --results; name that file too")
    # Here, and not above: what this needs is optional, and it says so; and it needs an engine.
    from waterline.checker.cli.confirm.walking import conform  # noqa: PLC0415

    return conform(release, options)
