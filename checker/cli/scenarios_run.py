"""Execution of `scenarios --run`: explores entries and compares them with the catalogue."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waterline.checker.cli.run_report import render_finding
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import make_folder, write_files
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import Screen, error_screen, say, screen
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.running import Outcome, run_scenarios
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.kafka.scenarios.table import outcome_table, summary, to_markdown
from waterline.counterexamples import Trace, to_json
from waterline.counterexamples.rendering import Trimmed

if TYPE_CHECKING:
    from waterline.checker.cli.scenarios import ScenariosOptions


def carry_out(chosen: Sequence[Scenario], options: ScenariosOptions) -> int:
    """Explore every version of each, and show what came of it; returns the exit code."""
    console = screen()
    make_folder("--trace-dir", options.trace_dir)
    started = time.monotonic()
    with showing(error_screen()) as progress:
        outcomes = run_scenarios(
            chosen,
            threads=options.threads,
            announce=progress.announce,
            watch=lambda done, of: progress.report(f"{done} of {of} spaces explored"),
        )
    console.print(Trimmed(outcome_table(outcomes)))
    if len(chosen) == 1:
        _show_first(console, outcomes)
    console.print(summary(outcomes, time.monotonic() - started))
    text = sum(len(scenario.versions) for scenario in chosen)
    if len(outcomes) < text:
        say(f"interrupted: {len(outcomes)} of {text} were explored")
    texts: dict[Path | None, Callable[[], str]] = {
        options.json_file: lambda: _as_json(outcomes),
        options.markdown_file: lambda: to_markdown(outcomes),
    }
    if options.trace_dir:
        for name, trace in _traces(outcomes).items():
            texts[options.trace_dir / name] = partial(to_json, trace)
    write_files(texts)
    if len(outcomes) < text:
        return exit_codes.INCOMPLETE
    met = all(outcome.as_described for outcome in outcomes)
    return exit_codes.HOLDS if met else exit_codes.UNEXPECTED


def _traces(outcomes: list[Outcome]) -> dict[str, Trace]:
    """The first trace of each scenario, by the name of its file."""
    return {
        f"{outcome.scenario.name}.json": outcome.finding.replayed.trace
        for outcome in _first_violated(outcomes)
        if outcome.finding is not None
    }


def _first_violated(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the first version of each scenario that is violated."""
    return [
        outcome
        for outcome in outcomes
        if outcome.version == outcome.scenario.first and outcome.finding is not None
    ]


def _show_first(console: Screen, outcomes: list[Outcome]) -> None:
    for outcome in _first_violated(outcomes):
        assert outcome.finding is not None
        console.print(Trimmed(render_finding(outcome.finding, MESSAGE.words)))


def _as_json(outcomes: list[Outcome]) -> str:
    text = [
        {
            "scenario": outcome.scenario.name,
            "number": outcome.scenario.number,
            "version": outcome.version,
            "claim": outcome.scenario.claim,
            "verdict": outcome.verdict.value,
            "as_told": outcome.as_described,
            "depth": outcome.depth,
            "distinct": outcome.states,
            "complete": outcome.complete,
            "seconds": round(outcome.seconds, 3),
            "bounds": outcome.scenario.environment.options(),
        }
        for outcome in outcomes
    ]
    return json.dumps({"format": "waterline-scenarios/1", "outcomes": text}, indent=1) + "\n"
