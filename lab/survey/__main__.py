"""`python -m lab.survey`: every entry of the catalogue on brokers of released Kafkas."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lab.entry import run_here
from lab.survey.cells import count_of, in_order
from lab.survey.document import write_markdown
from lab.survey.survey import Survey
from waterline.checker.cli.confirm import jars_option
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, OutputFile
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.scenarios.catalogue import find_scenario, of_kafka, require_of_kafka

_HELP = """\b
Exit codes:
  0   no result is REFUTED
  2   bad usage, no Java, no jars, a broker that does not come up
  20  interrupted
  31  a result is REFUTED: brokers did something else than the model
"""


@click.command(
    "survey",
    epilog=f"{_HELP}\n{FILES_HELP}",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--kafka",
    "releases",
    multiple=True,
    metavar="RELEASE",
    help="Whose brokers, as 0.10.2.2, 3.9.1:kraft, 4.2.0:kraft or 4.2.0:elr; repeatable.",
)
@jars_option
@click.option(
    "--results",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Every result is added there as it is found; one that still counts is not tried again.",
)
@click.option("--again", is_flag=True, help="Try again also what still counts.")
@click.option(
    "--drop-outdated",
    is_flag=True,
    help="First take away every result of steps, or of rules, that are others by now.",
)
@click.option("--markdown", type=OutputFile(), help="Write all results there, to be read.")
def survey_command(
    names: tuple[str, ...],
    releases: tuple[str, ...],
    jars: Path | None,
    results: Path,
    again: bool,
    drop_outdated: bool,
    markdown: Path | None,
) -> int:
    """Replay the counterexample of every entry, or of those named, on every release named.

    Without --kafka nothing is tried, and the results that there are, are shown.
    """
    chosen = [find_scenario(name) for name in names] or of_kafka()
    for entry in chosen:
        require_of_kafka(entry)
    asked = [kafka_release(name) for name in releases]

    interrupted = False
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        survey = Survey(results, jars, progress.announce, progress.report)
        try:
            if drop_outdated:
                for cell in survey.drop_outdated():
                    progress.announce(f"dropped: {cell.scenario} on Kafka {cell.release}")
            survey.add(chosen, asked, again=again)
        except KeyboardInterrupt:
            interrupted = True
            progress.announce("interrupted: what was found until then is shown")
    named = {scenario.name for scenario in chosen}
    versions = {release.name for release in asked} or {cell.release for cell in survey.cells}
    shown = [
        cell
        for cell in in_order(survey.cells)
        if cell.scenario in named and cell.release in versions
    ]
    console = screen()
    for cell in shown:
        console.print(f"{cell.release:11} {cell.scenario:27} {cell.shown}", highlight=False)
    console.print(count_of(shown))
    if markdown is not None:
        write_markdown(markdown, survey.cells, results.as_posix())
        say(f"wrote {markdown}")
    if interrupted:
        return exit_codes.INCOMPLETE
    refuted = any(cell.judgement == "REFUTED" for cell in shown)
    return exit_codes.OF_CONFIRMING["refuted"] if refuted else exit_codes.HOLDS


def main() -> int:
    """Run the command; returns the exit code."""
    return run_here(survey_command, "lab.survey")


if __name__ == "__main__":
    sys.exit(main())
