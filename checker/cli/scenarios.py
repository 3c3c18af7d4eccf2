"""`waterline scenarios`: the catalogue of known failures, shown or explored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, OutputFile
from waterline.checker.cli.shared.options import options_as, threads_option
from waterline.checker.cli.shared.screen import screen
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, scenarios_about
from waterline.checker.kafka.scenarios.table import catalogue_table, entry
from waterline.counterexamples.rendering import Trimmed


@dataclass(frozen=True, slots=True)
class ScenariosOptions:
    """The command's options."""

    names: tuple[str, ...]
    is_run: bool
    threads: int
    json_file: Path | None
    markdown_file: Path | None
    trace_dir: Path | None


@click.command("scenarios", epilog=FILES_HELP)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--run", "is_run", is_flag=True, help="Explore them and compare with what the catalogue says."
)
@threads_option
@click.option(
    "--json",
    "json_file",
    type=OutputFile(),
    help="Write every outcome there as JSON; with --run.",
)
@click.option(
    "--markdown",
    "markdown_file",
    type=OutputFile(),
    help="Write the catalogue with every outcome there, to be read; with --run.",
)
@click.option(
    "--trace-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the first trace of each scenario there; with --run.",
)
@options_as(ScenariosOptions)
def scenarios_command(options: ScenariosOptions) -> int:
    """List the known ways for Kafka, or Apache Fluss, to lose records or to diverge.

    NAME is a name (kip-279), a number (C4), or a KIP or ticket (KIP-101, KAFKA-7415), which may
    match several entries. With --run, every version of each entry is explored. Its claim must be
    violated where the catalogue says so, and hold in every reachable state elsewhere.
    """
    found = {entry.number: entry for name in options.names for entry in scenarios_about(name)}
    chosen = list(found.values()) or list(CATALOGUE)
    if not options.is_run and (options.json_file or options.markdown_file or options.trace_dir):
        raise click.UsageError("files are written about what --run finds; add --run")
    console = screen()
    if not options.is_run:
        is_whole = len(chosen) <= len(options.names)
        shown = [entry(scenario) for scenario in chosen] if is_whole else [catalogue_table(chosen)]
        for table in shown:
            console.print(Trimmed(table))
        return exit_codes.HOLDS
    from waterline.checker.cli.scenarios_run import carry_out  # noqa: PLC0415 - the list needs no engine

    return carry_out(chosen, options)
