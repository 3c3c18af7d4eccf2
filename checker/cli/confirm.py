"""`waterline confirm`: counterexamples replayed on brokers of released Kafkas."""

from __future__ import annotations

from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.ending import ending_as_by_ctrl_c
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.scenarios.catalogue import find_scenario, require_of_kafka
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.counterexamples.rendering import Trimmed

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
    help="Instead: whose tablet servers of Apache Fluss, 0.9.1 (docs/fluss.md).",
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
def confirm_command(
    trace: Path | None,
    scenario: str | None,
    kafka: str | None,
    fluss: str | None,
    control: bool,
    jars: Path | None,
    keep: Path | None,
    expect: str | None,
) -> int:
    """Replay a counterexample, step by step, on unchanged brokers of a released Kafka, or Fluss.

    TRACE is a file as `check --trace-dir` writes it. After every step what brokers show is compared
    with the model. Everything runs on this machine and listens on loopback only.
    """
    if (trace is None) == (scenario is None):
        raise click.UsageError("give a TRACE or --scenario, one of them")
    if control and scenario is None:
        raise click.UsageError("--control is of a scenario; name it with --scenario")
    if (kafka is None) == (fluss is None):
        raise click.UsageError("give --kafka or --fluss, one of them")
    entry = find_scenario(scenario) if scenario is not None else None
    if fluss is not None:
        if control:
            raise click.UsageError("--control is for brokers of Kafka; leave it out")
        return _of_judgement(_on_fluss(trace, entry, fluss, jars, keep), expect)
    assert kafka is not None
    release = kafka_release(kafka)
    if entry is not None:
        require_of_kafka(entry)
    # Here, and not above: what this needs is optional, and it says so; and it needs an engine.
    from waterline.checker.kafka.confirm.carrying_out import carried_out  # noqa: PLC0415
    from waterline.checker.kafka.confirm.counterexample import load_counterexample, ways_shown  # noqa: PLC0415
    from waterline.checker.kafka.confirm.report import render_confirmation  # noqa: PLC0415

    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            ways = ways_shown(entry, release.rules, progress.announce)
        else:
            assert trace is not None
            ways = iter([load_counterexample(trace)])
        for shown in ways:
            found, course = carried_out(
                shown,
                release,
                control_of=entry.name if entry and control else None,
                jars=jars,
                keep=keep,
                announce=progress.announce,
                report=progress.report,
            )
            if found.judgement.name != "NOT_STEERABLE" or control or keep is not None:
                break
    screen().print(Trimmed(render_confirmation(found, course, release)))
    if keep is not None:
        say(f"kept in {keep}")
    return _of_judgement(found.judgement.name, expect)


def _on_fluss(
    trace: Path | None,
    entry: Scenario | None,
    fluss: str,
    jars: Path | None,
    keep: Path | None,
) -> str:
    """Replay on tablet servers; the name of the judgement."""
    from waterline.checker.kafka.confirm.carrying_out import work_folder  # noqa: PLC0415
    from waterline.checker.kafka.confirm.counterexample import search  # noqa: PLC0415
    from waterline.checker.kafka.confirm.fluss.release import steered_release  # noqa: PLC0415
    from waterline.checker.kafka.confirm.fluss.replay import replay_on_fluss  # noqa: PLC0415
    from waterline.checker.kafka.confirm.fluss.report import render_on_fluss  # noqa: PLC0415
    from waterline.checker.kafka.confirm.jars import class_path  # noqa: PLC0415
    from waterline.counterexamples import read_trace  # noqa: PLC0415

    release = steered_release(fluss)
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            shown = search(entry, release.rules, progress.announce)
            read = shown.finding.replayed.trace
        else:
            assert trace is not None
            read = read_trace(trace)
        found_jars = class_path(release, folder=jars, announce=progress.announce)
        with work_folder(keep) as folder:
            found = replay_on_fluss(read, release, folder, found_jars)
    screen().print(Trimmed(render_on_fluss(found, read, release)))
    if keep is not None:
        say(f"kept in {keep}")
    return found.judgement.name


def _of_judgement(judgement: str, expect: str | None) -> int:
    """The exit code: by the judgement, or whether it is what was expected."""
    name = judgement.lower().replace("_", "-")
    if expect is not None:
        return exit_codes.HOLDS if name == expect else exit_codes.UNEXPECTED
    return exit_codes.OF_CONFIRMING[name]
