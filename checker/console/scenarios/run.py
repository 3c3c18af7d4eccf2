"""What `scenarios --run` does: explore, compare with what is told, write what was asked for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from checker.console.check.report import render_finding
from checker.console.shared import exit_codes
from checker.console.shared.file_options import make_folder, write_files
from checker.console.shared.progress import showing
from checker.console.shared.screen import Screen, error_screen, say, screen
from checker.kafka.families import MESSAGE
from checker.scenarios.document import explained_part, to_markdown
from checker.scenarios.running import Outcome, run_scenarios
from checker.scenarios.scenario import Scenario
from checker.scenarios.table import outcome_table, summary
from counterexamples import Trace, Trimmed, to_json


def carry_out(
    chosen: Sequence[Scenario],
    *,
    threads: int,
    json_file: Path | None,
    markdown_file: Path | None,
    trace_dir: Path | None,
) -> int:
    """Explore every version of each, and show what came of it; returns the exit code."""
    console = screen()
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
        kept = kept_of(markdown_file)
        texts[markdown_file] = lambda: to_markdown(outcomes) + kept
    if trace_dir:
        for name, trace in _traces(outcomes).items():
            texts[trace_dir / name] = partial(to_json, trace)
    write_files(texts)
    if len(outcomes) < told:
        return exit_codes.INCOMPLETE
    met = all(outcome.as_told for outcome in outcomes)
    return exit_codes.HOLDS if met else exit_codes.UNEXPECTED


def kept_of(path: Path) -> str:
    """What stands in a document that exists already, and is not of a run."""
    return explained_part(path.read_text(encoding="utf-8")) if path.is_file() else ""


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
        if outcome.version == outcome.scenario.first and outcome.finding is not None
    ]


def _show_first(console: Screen, outcomes: list[Outcome]) -> None:
    for outcome in _recorded(outcomes):
        assert outcome.finding is not None
        console.print(Trimmed(render_finding(outcome.finding, MESSAGE.words)))


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
