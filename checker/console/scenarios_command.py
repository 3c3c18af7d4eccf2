"""`waterline scenarios`: the catalogue of what is known to go wrong, told and carried out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from checker.console import exit_codes
from checker.console.file_options import FILES_HELP, OutputFile, make_folder, write_files
from checker.console.progress import showing
from checker.console.report import render_finding
from checker.console.screen import Screen, error_screen, say, screen
from checker.scenarios.catalogue import CATALOGUE, find_scenario
from checker.scenarios.document import to_markdown
from checker.scenarios.running import Outcome, run_scenarios
from checker.scenarios.table import catalogue_table, entry, outcome_table, summary
from counterexamples import Trace, Trimmed, to_json


@click.command(
    "scenarios", short_help="The catalogue of known losses and divergences.", epilog=FILES_HELP
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--run", "carry_out", is_flag=True, help="Explore them and compare with what is told."
)
@click.option(
    "--threads", type=click.IntRange(0, 1024), default=0, help="Threads; 0: one for each core."
)
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
def scenarios_command(
    names: tuple[str, ...],
    carry_out: bool,
    threads: int,
    json_file: Path | None,
    markdown_file: Path | None,
    trace_dir: Path | None,
) -> int:
    """List the ways in which Kafka is known to lose records or to diverge, or tell of some.

    NAME is a name as kip-279 or a number as C4. With --run every version of each is explored: it
    must fall where the catalogue says so, and stand, in every reachable state, where it says that.
    """
    chosen = [find_scenario(name) for name in names] or list(CATALOGUE)
    if not carry_out and (json_file or markdown_file or trace_dir):
        raise click.UsageError("files are written about what --run finds; add --run")
    console = screen()
    if not carry_out:
        shown = [entry(scenario) for scenario in chosen] if names else [catalogue_table(chosen)]
        for table in shown:
            console.print(Trimmed(table))
        return exit_codes.HOLDS
    make_folder("--trace-dir", trace_dir)
    started = time.monotonic()
    with showing(error_screen()) as progress:
        outcomes = run_scenarios(
            chosen,
            threads=threads,
            announce=progress.announce,
            watch=lambda done, of: progress.tell(f"{done} of {of} spaces explored"),
        )
    console.print(Trimmed(outcome_table(outcomes)))
    if len(chosen) == 1:
        _show_first(console, outcomes)
    console.print(summary(outcomes, time.monotonic() - started))
    told = sum(len(scenario.versions) for scenario in chosen)
    if len(outcomes) < told:
        say(f"interrupted: {len(outcomes)} of {told} were explored")
    texts: dict[Path, Callable[[], str]] = {}
    if json_file:
        texts[json_file] = lambda: _as_json(outcomes)
    if markdown_file:
        texts[markdown_file] = lambda: to_markdown(outcomes)
    if trace_dir:
        for name, trace in _traces(outcomes).items():
            texts[trace_dir / name] = partial(to_json, trace)
    write_files(texts)
    if len(outcomes) < told:
        return exit_codes.INCOMPLETE
    met = all(outcome.as_told for outcome in outcomes)
    return exit_codes.HOLDS if met else exit_codes.UNEXPECTED


def _traces(outcomes: list[Outcome]) -> dict[str, Trace]:
    """The first trace of each scenario, by the name of its file."""
    return {
        f"{outcome.scenario.name}.json": outcome.finding.replayed.trace
        for outcome in _recorded(outcomes)
        if outcome.finding is not None
    }


def _recorded(outcomes: list[Outcome]) -> list[Outcome]:
    """Of each scenario the first version that falls."""
    return [
        outcome
        for outcome in outcomes
        if outcome.version == outcome.scenario.falls[0] and outcome.finding is not None
    ]


def _show_first(console: Screen, outcomes: list[Outcome]) -> None:
    for outcome in _recorded(outcomes):
        assert outcome.finding is not None
        console.print(Trimmed(render_finding(outcome.finding)))


def _as_json(outcomes: list[Outcome]) -> str:
    told = [
        {
            "scenario": outcome.scenario.name,
            "number": outcome.scenario.number,
            "version": outcome.version,
            "claim": outcome.scenario.claim,
            "verdict": outcome.verdict.value,
            "as_told": outcome.as_told,
            "depth": outcome.depth,
            "distinct": outcome.states,
            "complete": outcome.complete,
            "seconds": round(outcome.seconds, 3),
            "bounds": outcome.scenario.environment.options(),
        }
        for outcome in outcomes
    ]
    return json.dumps({"format": "waterline-scenarios/1", "outcomes": told}, indent=1) + "\n"
