"""`waterline confirm-catalogue`: every entry of the catalogue on brokers of released Kafkas."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.confirm.broker_options import jars_option
from checker.cli.shared import exit_codes
from checker.cli.shared.ending import ending_as_by_ctrl_c
from checker.cli.shared.file_options import FILES_HELP, OutputFile
from checker.cli.shared.progress import showing
from checker.cli.shared.screen import error_screen, say, screen
from checker.kafka.confirm.releases import kafka_release
from checker.kafka.scenarios.catalogue import OF_STATES, find_scenario

_HELP = """\b
Exit codes:
  0   no cell is REFUTED
  2   bad usage, no Java, no jars, a broker that does not come up
  20  interrupted
  31  a cell is REFUTED: brokers did something else than the model
"""


@click.command(
    "confirm-catalogue",
    short_help="The whole catalogue on real Kafka brokers.",
    epilog=f"{_HELP}\n{FILES_HELP}",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--kafka",
    "releases",
    required=True,
    multiple=True,
    metavar="RELEASE",
    help="Whose brokers, as 0.10.2.2, 3.9.1:kraft, 4.2.0:kraft or 4.2.0:elr; repeatable.",
)
@jars_option
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
    """Replay the counterexample of every entry, or of those named, on every release named."""
    chosen = [find_scenario(name) for name in names] or list(OF_STATES)
    asked = [kafka_release(name) for name in releases]
    from checker.kafka.confirm.survey import count_of, surveyed, write_markdown  # noqa: PLC0415 - as above

    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        cells, missing = surveyed(
            chosen,
            asked,
            results=results,
            jars=jars,
            announce=progress.announce,
            report=progress.report,
        )
    console = screen()
    names_asked = [release.name for release in asked]
    shown = [cell for cell in cells if cell.release in names_asked]
    for cell in shown:
        console.print(f"{cell.release:11} {cell.scenario:27} {cell.shown}", highlight=False)
    console.print(count_of(shown))
    if markdown is not None:
        write_markdown(markdown, shown, names_asked, missing)
        say(f"wrote {markdown}")
    refuted = any(cell.judgement == "REFUTED" for cell in shown)
    return exit_codes.OF_CONFIRMING["refuted"] if refuted else exit_codes.HOLDS
