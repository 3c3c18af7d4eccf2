"""`waterline confirm`: counterexamples replayed on brokers of released Kafkas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import options_as
from waterline.checker.cli.shared.screen import say
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.scenarios.catalogue import find_scenario, require_of_kafka

HELP = """\b
Exit codes:
  0   CONFIRMED; with --expect: as expected
  2   bad usage, no Java, no jars, a broker that does not come up
  3   with --expect: something else
  20  interrupted
  30  HELD: these brokers do not break the claim
  31  REFUTED: brokers did something else than the model
  32  NOT STEERABLE: the harness cannot cause or hold a step
"""

jars_option = click.option(
    "--jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with the release's jars, and all that they depend on; else Maven fetches them.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmOptions:
    """Trace or scenario, the release whose brokers replay it, and options of the replay."""

    trace: Path | None
    scenario: str | None
    kafka: str | None
    fluss: str | None
    control: bool
    jars: Path | None
    keep: Path | None
    expect: str | None


@click.command("confirm", short_help="Replay a counterexample on real Kafka brokers.", epilog=HELP)
@click.argument("trace", required=False, type=click.Path(path_type=Path))
@click.option("--scenario", metavar="NAME", help="Instead of TRACE: an entry of the catalogue.")
@click.option(
    "--kafka",
    metavar="RELEASE",
    help="Whose brokers, as 0.10.2.2, 3.9.1:kraft, 4.2.0:kraft or 4.2.0:elr.",
)
@click.option(
    "--fluss",
    metavar="RELEASE",
    help="Instead: whose tablet servers of Apache Fluss, 0.9.1 (docs/results/fluss.md).",
)
@click.option(
    "--control",
    is_flag=True,
    help="With --scenario: with the step more that prevents it, if it has one.",
)
@jars_option
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep logs, segments and the conversation in this folder, which must be new or empty.",
)
@click.option(
    "--expect",
    type=click.Choice(["confirmed", "held", "refuted", "not-steerable"]),
    help="What is to come out: exit 0 if it does, else 3.",
)
@options_as(ConfirmOptions)
def confirm_command(options: ConfirmOptions) -> int:
    """Replay a counterexample, step by step, on unchanged brokers of a released Kafka, or Fluss.

    TRACE is a file as `check --trace-dir` writes it. After every step what brokers show is compared
    with the model. Everything runs on this machine and listens on loopback only.
    """
    if (options.trace is None) == (options.scenario is None):
        raise click.UsageError("give a TRACE or --scenario, one of them")
    if options.control and options.scenario is None:
        raise click.UsageError("--control is of a scenario; name it with --scenario")
    if (options.kafka is None) == (options.fluss is None):
        raise click.UsageError("give --kafka or --fluss, one of them")
    entry = find_scenario(options.scenario) if options.scenario is not None else None
    if options.fluss is not None and options.control:
        raise click.UsageError("--control is for brokers of Kafka; leave it out")
    release = kafka_release(options.kafka) if options.kafka is not None else None
    if release is not None and entry is not None:
        require_of_kafka(entry)
    # Here, and not above: what this needs is optional, and it says so; and it needs an engine.
    from waterline.checker.cli.confirm_run import replay_on_fluss, replay_on_kafka  # noqa: PLC0415

    if release is None:
        judgement = replay_on_fluss(options, entry)
    else:
        judgement = replay_on_kafka(options, release, entry)
    if options.keep is not None:
        say(f"kept in {options.keep}")
    return _exit_code(judgement, options.expect)


def _exit_code(judgement: str, expect: str | None) -> int:
    """The exit code: by the judgement, or whether it is what was expected."""
    name = judgement.lower().replace("_", "-")
    if expect is not None:
        return exit_codes.HOLDS if name == expect else exit_codes.UNEXPECTED
    return exit_codes.OF_CONFIRMING[name]
