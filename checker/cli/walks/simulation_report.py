"""Report of a simulation for people: violations, coverage, and what it does not show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.simulate.shortening import Shortened
from waterline.checker.analysis.simulate.simulation import NOT_SEEN, Simulation
from waterline.checker.cli.check.report import (
    Claims,
    action_table,
    headline,
    render_finding,
    sentences,
)
from waterline.checker.problem.family import words_of
from waterline.checker.problem.wording import (
    describe_contract,
    describe_version,
    quantity,
    roughly,
)
from waterline.checker.search.result import Verdict
from waterline.checker.storage.hyperloglog import STANDARD_ERROR
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, WARNING, label_grid

_STYLES = {
    Verdict.VIOLATED.value: BAD,
    NOT_SEEN: WARNING,
    Verdict.NOT_APPLICABLE.value: "dim",
}


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
    """Whether there may be a shorter counterexample."""
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
