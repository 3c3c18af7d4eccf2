"""Execution of `simulate`: random walks, their report, and the files."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import click

from waterline.checker.analysis.simulate.choosing import Choosing, Plan
from waterline.checker.analysis.simulate.coverage import Coverage
from waterline.checker.analysis.simulate.document import document
from waterline.checker.analysis.simulate.simulation import WALKS, Simulation, Wanted, simulate
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import make_folder, write_files
from waterline.checker.cli.shared.options import require_engine, take_engine
from waterline.checker.cli.shared.problem_options import problem_from, take_given
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.cli.walks.simulation_report import render_simulation
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import quantity, roughly
from waterline.checker.traces.finding import trace_name
from waterline.counterexamples import to_json
from waterline.model.core.errors import BadEnvironment


def simulate_asked(options: dict[str, Any]) -> int:
    """Walk as the options ask, and show what was seen; returns the exit code."""
    folder, output_format = options.pop("trace_dir"), options.pop("output_format")
    wanted, choice = _take_wanted(options), take_engine(options)
    require_engine(choice)
    make_folder("--trace-dir", folder)
    seed, depth = options.pop("seed"), options.pop("depth")
    choosing = Choosing(options.pop("choosing"))
    problem = _walkable(problem_from(take_given(options)))
    outside = words_of(problem).outside
    plan = Plan(seed=seed, depth=depth, choosing=choosing, outside=outside)
    with showing(error_screen()) as progress:
        watch = _watching(problem, progress)
        done = simulate(problem, choice, plan, wanted, announce=progress.announce, watch=watch)
    if output_format == "json":
        click.echo(json.dumps(document(done), indent=2))
    else:
        screen().print(render_simulation(done))
    if folder is not None:
        write_files(
            {
                folder / trace_name(problem, each.finding.invariant): partial(
                    to_json, each.finding.replayed.trace
                )
                for each in done.found
            }
        )
    elif done.found and output_format == "text":
        say("add --trace-dir to keep the counterexamples; waterline view steps through one")
    return code_of(done)


def _take_wanted(options: dict[str, Any]) -> Wanted:
    """Return when the walks end: after the usual number, unless a number or a time is given."""
    walks, seconds = options.pop("walks"), options.pop("max_time")
    return Wanted(
        walks=WALKS if walks is None and seconds is None else walks,
        seconds=seconds,
        stop_at_first=options.pop("stop_at_first"),
        shorten_states=options.pop("shorten_states"),
    )


def _walkable(problem: Problem) -> Problem:
    """Return the problem, if walks can judge its claims. Raises `BadEnvironment`."""
    asked = problem.asked or ()
    of_behaviours = [claim.name for claim in problem.behaviours if claim.name in asked]
    if of_behaviours:
        raise BadEnvironment(
            f"{of_behaviours[0]} is about what follows, of which a walk that ends says nothing; "
            "ask `check`"
        )
    return problem


def code_of(done: Simulation) -> int:
    """Return the exit code: violated, none seen in all walks requested, or in fewer."""
    if done.found:
        return exit_codes.VIOLATED
    return exit_codes.INCOMPLETE if done.stopped_by else exit_codes.HOLDS


def _watching(problem: Problem, progress: Progress) -> Any:
    began = time.monotonic()
    names = [claim.name for claim in problem.claims]

    def watch(seen: Coverage) -> None:
        rate = seen.steps / max(time.monotonic() - began, 1e-9)
        broken = ", ".join(names[number] for number in sorted(seen.sightings))
        described = (
            f"{quantity(seen.walks, 'walk')}, {quantity(seen.steps, 'step')}, {roughly(rate)}/s"
        )
        progress.report(
            f"{described}; {f'broken: {broken}' if broken else 'nothing broken so far'}"
        )

    return watch
