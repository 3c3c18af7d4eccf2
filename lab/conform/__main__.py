"""`python -m lab.conform`: walks through the model, taken on brokers of a released Kafka."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lab.conform import conforming
from lab.conform.conformance import Conformance
from lab.conform.figures import figures_of, write_markdown
from lab.conform.kept_walks import read_kept
from lab.entry import run_here
from waterline.checker.cli.confirm import jars_option
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release

_SECONDS_A_MINUTE = 60
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
    return conform(release, options)


def conform(release: KafkaRelease, options: dict[str, Any]) -> int:
    """Walk on brokers of the release as the options say; returns the exit code."""
    trace, trace_dir, results = options["trace"], options["trace_dir"], options["results"]
    asked = conforming.ConformOptions(
        walks=options["walks"],
        steps_max=options["steps"],
        seed=options["seed"],
        states_max=options["max_states"] if options["aim"] else None,
        seconds_max=options["minutes"] and options["minutes"] * _SECONDS_A_MINUTE,
    )
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        circumstances = conforming.circumstances_of(options["names"], trace)
        # A file that is something else is found before the work.
        found = conforming.begun_with(release, circumstances, None if trace else results)
        if options["plan"]:
            conforming.look_for_outcomes(
                found,
                states_max=options["max_states"],
                results=results,
                announce=progress.announce,
            )
            shortest = None
        else:
            shortest = conforming.carried_out(
                found,
                asked,
                trace=trace,
                shortens=trace_dir is not None and trace is None,
                results=results,
                jars=options["jars"],
                announce=progress.announce,
                report=progress.report,
            )
    [figures] = figures_of(found.kept)
    for line in conforming.report(figures):
        screen().print(line, highlight=False)
    if shortest is not None and trace_dir is not None:
        say(f"wrote {conforming.write_shortest(shortest, found, trace_dir)}")
    if options["markdown"] is not None:
        write_markdown(options["markdown"], figures_of(read_kept(results)))
        say(f"wrote {options['markdown']}")
    return exit_codes.HOLDS if options["plan"] else _code(found)


def _code(found: Conformance) -> int:
    if found.interrupted:
        return exit_codes.INCOMPLETE
    if any(each.disagreement for each in found.walks):
        return exit_codes.OF_CONFIRMING["refuted"]
    return exit_codes.HOLDS if found.steps else exit_codes.OF_CONFIRMING["not-steerable"]


def main() -> int:
    """Run the command; returns the exit code."""
    return run_here(conform_command, "lab.conform")


if __name__ == "__main__":
    sys.exit(main())
