"""Execution of `simulate`: random walks, their report, the files; the JSON (docs/running.md)."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.simulate.coverage import Coverage
from waterline.checker.analysis.simulate.hyperloglog import STANDARD_ERROR
from waterline.checker.analysis.simulate.shortening import Shortened
from waterline.checker.analysis.simulate.simulation import (
    NOT_SEEN,
    WALKS,
    Simulation,
    Wanted,
    simulate,
)
from waterline.checker.analysis.simulate.walker import Choosing, Plan
from waterline.checker.cli.run_report import (
    Claims,
    action_table,
    headline,
    render_finding,
    sentences,
)
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import make_folder, write_files
from waterline.checker.cli.shared.options import require_engine
from waterline.checker.cli.shared.problem_options import problem_from
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.cli.simulate import SimulateOptions
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import (
    describe_contract,
    describe_version,
    quantity,
    roughly,
)
from waterline.checker.search.result import Verdict
from waterline.checker.traces.finding import trace_name
from waterline.counterexamples import to_json
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, WARNING, label_grid
from waterline.model.core.errors import BadEnvironment

_STYLES = {
    Verdict.VIOLATED.value: BAD,
    NOT_SEEN: WARNING,
    Verdict.NOT_APPLICABLE.value: "dim",
}


def simulate_asked(options: SimulateOptions) -> int:
    """Walk as the options ask, and show what was seen; returns the exit code."""
    folder, choice = options.trace_dir, options.engine.choice()
    require_engine(choice)
    make_folder("--trace-dir", folder)
    problem = _walkable(problem_from(options.problem))
    plan = Plan(
        seed=options.seed,
        depth=options.depth,
        choosing=Choosing(options.choosing),
        outside=words_of(problem).outside,
    )
    with showing(error_screen()) as progress:
        watch = _watching(problem, progress)
        done = simulate(
            problem, choice, plan, _walk_limits(options), announce=progress.announce, watch=watch
        )
    if options.output_format == "json":
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
    elif done.found and options.output_format == "text":
        say("add --trace-dir to keep the counterexamples; waterline view steps through one")
    return code_of(done)


def _walk_limits(options: SimulateOptions) -> Wanted:
    """Return when the walks end: after the usual number, unless a number or a time is given."""
    is_usual = options.walks is None and options.max_time is None
    return Wanted(
        walks=WALKS if is_usual else options.walks,
        seconds=options.max_time,
        stop_at_first=options.stop_at_first,
        shorten_states=options.shorten_states,
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


def render_simulation(done: Simulation) -> RenderableType:
    """The whole report."""
    model, seen = done.problem.model, done.coverage
    taken = {
        action.name: int(seen.taken[number])
        for number, action in enumerate(model.actions)
        if action.name in model.contents
    }
    parts = [headline(done.problem), _verdicts(done), _happened_table(done), _coverage_grid(done)]
    parts.append(action_table(taken, "Steps taken"))
    if never := [name for name, times in taken.items() if not times]:
        parts.append(Text(f"Never taken: {', '.join(never)}"))
    described: dict[tuple[object, ...], str] = {}
    for each in done.found:
        steps = each.finding.replayed.trace.steps
        parts.append(render_finding(each.finding, words_of(done.problem), described.get(steps)))
        if each.finding.breaking is None:
            parts.append(Text(describe_length(each), "dim"))
        described.setdefault(steps, each.finding.invariant)
    return Trimmed(Group(*parts, _conclusion(done)))


def describe_length(found: Shortened) -> str:
    """True if there may be a shorter counterexample."""
    walked = f"; {found.walked} in the walk that found it" if found.walked is not None else ""
    steps = f"{quantity(found.steps, 'step')}{walked}."
    if found.is_shortest:
        return f"Shortest: {steps}"
    if found.at_least > 1:
        return f"Perhaps not the shortest: {steps} None is shorter than {found.at_least}."
    return f"Perhaps not the shortest: {steps}"


def _verdicts(done: Simulation) -> RenderableType:
    rows = []
    lengths = {each.finding.invariant: each.steps for each in done.found}
    for claim in done.problem.judged:
        if not done.problem.is_asked(claim):
            continue
        verdict = done.verdict(claim)
        described = Text(
            verdict.upper() if verdict != NOT_SEEN else verdict, style=_STYLES[verdict]
        )
        if verdict == Verdict.VIOLATED.value:
            described.append(f" after {quantity(lengths[claim.name], 'step')}", style="red")
            times = quantity(done.broken_in(claim.name), "walk")
            described.append(f", in {times} of {done.coverage.walks:,}")
            if contract := claim.contract(done.problem.model.settings):
                described.append(f", {describe_contract(contract)}", style="yellow")
        rows.append((claim.name, described))
    return Claims(("Invariant", "Verdict"), tuple(rows), sentences(done.problem))


def _happened_table(done: Simulation) -> RenderableType:
    rows = [
        (claim.name, Text("happened", "green") if happened else Text(NOT_SEEN, "yellow"))
        for claim, happened in zip(
            done.problem.reachable, done.coverage.happened.tolist(), strict=True
        )
    ]
    return Claims(("Must happen", "Happens"), tuple(rows), sentences(done.problem))


def _coverage_grid(done: Simulation) -> RenderableType:
    seen, grid = done.coverage, label_grid()
    plan = done.plan
    made = f"{seen.walks:,}, seed {plan.seed}, choosing {plan.choosing.value}"
    grid.add_row("Walks", made)
    if done.stopped_by:
        grid.add_row("", Text(f"fewer than you asked for: stopped by {done.stopped_by}", WARNING))
    grid.add_row(
        "Steps",
        f"{seen.steps:,} taken; {int(seen.fired.sum()):,} enabled on the way, all judged",
    )
    grid.add_row("Length", _describe_lengths(seen.lengths, plan.depth))
    grid.add_row(
        "Distinct states",
        f"about {roughly(seen.distinct)} visited (HyperLogLog sketch, standard error "
        f"{STANDARD_ERROR:.1%})",
    )
    for name, used in seen.faults.items():
        if len(used) > 1:
            grid.add_row("Faults", _describe_faults(name, used))
    cut = [
        f"{name}: {int(seen.cut[:, number].sum()):,} cut"
        for number, name in enumerate(done.problem.model.limits)
        if number and seen.cut[:, number].any()
    ]
    grid.add_row("Bounds", ", ".join(cut) or "nothing cut")
    rate = seen.steps / max(done.seconds, 1e-9)
    grid.add_row(
        "Time",
        f"{done.seconds:.2f} s on engine {done.engine} ({rate / 1e6:.2f} M steps/s), "
        f"{done.prepare_seconds:.2f} s to load the model",
    )
    return grid


def _describe_lengths(lengths: NDArray[np.int64], depth: int) -> str:
    """How long walks were, and how many had no step left."""
    walks, whole = int(lengths.sum()), int(lengths[depth])
    if not walks:
        return "no walk was finished"
    mean = float(np.arange(len(lengths)) @ lengths) / walks
    described = f"{mean:.1f} steps on average, at most {int(np.flatnonzero(lengths)[-1])}"
    if walks > whole:
        described += f"; {walks - whole:,} walks ended earlier, with no step left within the bounds"
    return described


def _describe_faults(name: str, used: NDArray[np.int64]) -> str:
    """`restarts_used: 2 in 81% of the walks, 1 in 15%, 0 in 4%`"""
    shares = [f"{times} in {share:.0%}" for times, share in enumerate(used / used.sum())]
    first, *rest = reversed(shares)
    return f"{name}: " + ", ".join([f"{first} of the walks", *rest])


def _conclusion(done: Simulation) -> RenderableType:
    model, seen = done.problem.model, done.coverage
    line = Text(f"\n{describe_version(model.version)}: ", style="bold")
    if done.found:
        names = ", ".join(each.finding.invariant for each in done.found)
        line.append("VIOLATED ", style=BAD).append(f"{names}; ")
    rest = "no other violation was seen" if done.found else "no violation was seen"
    line.append(rest, style=WARNING)
    line.append(
        f" in {quantity(seen.walks, 'walk')} {words_of(done.problem).describe_scope(model)}. "
        "Walks cannot show that a claim holds; check can."
    )
    return line


FORMAT = "waterline-simulation/1"


def document(done: Simulation) -> dict[str, Any]:
    """The object as plain values."""
    model, seen = done.problem.model, done.coverage
    found = {each.finding.invariant: each for each in done.found}
    return {
        "format": FORMAT,
        "model": model.name,
        "protocol": model.version,
        "bounds": dict(model.options),
        "seed": done.plan.seed,
        "choose": done.plan.choosing.value,
        "depth": done.plan.depth,
        "stopped_by": done.stopped_by,
        "invariants": {
            claim.name: {
                "verdict": done.verdict(claim),
                "walks": done.broken_in(claim.name),
                **_counterexample(found.get(claim.name)),
            }
            for claim in done.problem.judged
            if done.problem.is_asked(claim)
        },
        "reachable": {
            claim.name: bool(seen.happened[number])
            for number, claim in enumerate(done.problem.reachable)
        },
        "walks": seen.walks,
        "steps": seen.steps,
        "enabled_steps": int(seen.fired.sum()),
        "distinct_estimate": round(seen.distinct),
        "distinct_standard_error": round(STANDARD_ERROR, 4),
        "lengths": seen.lengths.tolist(),
        "actions": {
            action.name: int(seen.taken[number])
            for number, action in enumerate(model.actions)
            if action.name in model.contents
        },
        "cut": {
            name: int(seen.cut[:, number].sum())
            for number, name in enumerate(model.limits)
            if number > 0
        },
        "faults": {name: used.tolist() for name, used in seen.faults.items() if len(used) > 1},
        "engine": done.engine,
        "seconds": round(done.seconds, 3),
        "prepare_seconds": round(done.prepare_seconds, 3),
    }


def _counterexample(found: Shortened | None) -> dict[str, Any]:
    if found is None:
        return {"steps": None, "walked": None, "at_least": None, "explanation": None, "trace": None}
    return {
        "steps": found.steps,
        "walked": found.walked,
        "at_least": found.at_least,
        "explanation": found.finding.explanation,
        "trace": json.loads(to_json(found.finding.replayed.trace)),
    }
