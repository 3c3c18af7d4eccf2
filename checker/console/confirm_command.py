"""`waterline confirm`: counterexamples replayed on brokers of released Kafkas."""

from __future__ import annotations

from pathlib import Path

import click

from checker.confirm.counterexample import Counterexample, searched
from checker.confirm.releases import kafka_release, require_steerable
from checker.console import exit_codes
from checker.console.ending import ending_as_by_ctrl_c
from checker.console.file_options import FILES_HELP, OutputFile
from checker.console.progress import showing
from checker.console.screen import error_screen, say, screen
from checker.finding import confirmed
from checker.grains import MESSAGE, grain_of
from checker.scenarios.catalogue import CATALOGUE, find_scenario
from counterexamples import BadTrace, Trimmed, read_trace
from model.environment import BadEnvironment

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


_jars_option = click.option(
    "--jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with the release's jars, and all that they depend on; else Maven fetches them.",
)


@click.command("confirm", short_help="Replay a counterexample on real Kafka brokers.", epilog=HELP)
@click.argument("trace", required=False, type=click.Path(path_type=Path))
@click.option("--scenario", metavar="NAME", help="Instead of TRACE: an entry of the catalogue.")
@click.option(
    "--kafka", required=True, metavar="RELEASE", help="Whose brokers, as 0.10.2.2 or 3.9.1."
)
@click.option(
    "--control",
    is_flag=True,
    help="With --scenario: with the step more that prevents it, if it has one.",
)
@_jars_option
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
    kafka: str,
    control: bool,
    jars: Path | None,
    keep: Path | None,
    expect: str | None,
) -> int:
    """Replay a counterexample, step by step, on unchanged brokers of a released Kafka.

    TRACE is a file as `check --trace-dir` writes it. After every step what brokers show is compared
    with the model. Everything runs on this machine and listens on loopback only.
    """
    if (trace is None) == (scenario is None):
        raise click.UsageError("give a TRACE or --scenario, one of them")
    if control and scenario is None:
        raise click.UsageError("--control is of a scenario; name it with --scenario")
    release = kafka_release(kafka)
    entry = find_scenario(scenario) if scenario is not None else None
    require_steerable(release, entry.name if entry else None)
    # Here, and not above: the libraries that this needs are optional, and it says so.
    from checker.confirm.carrying_out import carried_out  # noqa: PLC0415
    from checker.confirm.report import render_confirmation  # noqa: PLC0415

    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            rules, always = release.rules, release.is_kraft
            shown = searched(entry, rules, progress.announce, always=always)
        else:
            assert trace is not None
            shown = _recorded(trace)
        found, course = carried_out(
            shown,
            release,
            control_of=entry.name if entry and control else None,
            jars=jars,
            keep=keep,
            announce=progress.announce,
            tell=progress.tell,
        )
    screen().print(Trimmed(render_confirmation(found, course, release)))
    if keep is not None:
        say(f"kept in {keep}")
    name = found.judgement.name.lower().replace("_", "-")
    if expect is not None:
        return exit_codes.HOLDS if name == expect else exit_codes.UNEXPECTED
    return exit_codes.OF_CONFIRMING[name]


def _recorded(path: Path) -> Counterexample:
    """The counterexample in a file, seen to be one."""
    recorded = read_trace(path)
    try:
        grain = grain_of(recorded.model)
        if grain is not MESSAGE:
            raise BadTrace(
                f"{path} is a trace of {recorded.model}, whose steps are no requests; "
                f"one of {MESSAGE.model} can be replayed on brokers"
            )
        environment = grain.environment.from_options(dict(recorded.environment))
        problem = grain.problem(recorded.version, environment, [recorded.invariant])
    except BadEnvironment as found:
        raise BadTrace(f"{path}: {found}") from None
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    return Counterexample(problem, confirmed(recorded, problem.model, claim))


@click.command(
    "confirm-catalogue",
    short_help="The whole catalogue on real Kafka brokers.",
    epilog=f"{HELP}\n{FILES_HELP}",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--kafka",
    "releases",
    required=True,
    multiple=True,
    metavar="RELEASE",
    help="Whose brokers, as 0.10.2.2 or 3.9.1; repeatable.",
)
@_jars_option
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every cell there as it is found; what it has is not tried again.",
)
@click.option("--markdown", type=OutputFile(), help="Write the table there, to be read.")
def confirm_catalogue_command(
    names: tuple[str, ...],
    releases: tuple[str, ...],
    jars: Path | None,
    results: Path | None,
    markdown: Path | None,
) -> int:
    """Replay the counterexample of every entry, or of those named, on every release named.

    Exit 0 if no cell is REFUTED, else 31.
    """
    chosen = [find_scenario(name) for name in names] or list(CATALOGUE)
    asked = [kafka_release(name) for name in releases]
    from checker.confirm.survey import count_of, surveyed, write_markdown  # noqa: PLC0415 - as above

    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        cells, missing = surveyed(
            chosen,
            asked,
            results=results,
            jars=jars,
            announce=progress.announce,
            tell=progress.tell,
        )
    console = screen()
    shown = [cell for cell in cells if cell.release in releases]
    for cell in shown:
        console.print(f"{cell.release:9} {cell.scenario:27} {cell.shown}", highlight=False)
    console.print(count_of(shown))
    if markdown is not None:
        write_markdown(markdown, shown, releases, missing)
        say(f"wrote {markdown}")
    refuted = any(cell.judgement == "REFUTED" for cell in shown)
    return exit_codes.OF_CONFIRMING["refuted"] if refuted else exit_codes.HOLDS
