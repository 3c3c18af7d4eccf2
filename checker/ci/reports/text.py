"""Texts that all reports share: complaints, counterexamples, commands."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.positions import Place
from waterline.checker.compiler.source import NotCompilable, source_of
from waterline.checker.problem.family import words_of
from waterline.checker.problem.wording import printable, quantity
from waterline.counterexamples.rendering import render_compact
from waterline.counterexamples.style import BAD
from waterline.model.core.claim import ActionProperty, Invariant, predicates_of

if TYPE_CHECKING:
    from waterline.checker.traces.finding import Finding


COLUMNS = 100
"""How wide a counterexample is written where no screen says so."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a counterexample: its call, its sentence, the rows it changed, and its rule."""

    number: int
    call: str
    sentence: str
    changed: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The shortest way to what is wrong, and the sentence about its end."""

    claim: str
    sentence: str
    explanation: str
    names: tuple[str, ...]
    steps: tuple[Step, ...]
    text: str
    place: Place | None


def counterexample(outcome: Outcome) -> Counterexample | None:
    """Return the counterexample to show: that of the first complaint that has one."""
    claim = outcome.shown_claim
    return None if claim is None else _counterexample(outcome, claim)


@lru_cache(maxsize=64)
def _counterexample(outcome: Outcome, claim: str) -> Counterexample | None:
    assert outcome.answer is not None
    finding = outcome.answer.finding(claim)
    if finding is None:
        return None
    replayed = finding.replayed
    tables = [replayed.narration.rows(state) for state in replayed.states]
    return Counterexample(
        claim=claim,
        sentence=printable(finding.sentence),
        explanation=printable(finding.explanation),
        names=tuple(printable(row[0]) for row in tables[0][1:]),
        steps=tuple(
            Step(
                moment.number,
                str(moment),
                printable(moment.sentence(replayed.narration)),
                _differences(tables[moment.number - 1], tables[moment.number]),
                place_of_action(outcome.expectation, moment.action),
            )
            for moment in replayed.moments
        ),
        text=_text(outcome, finding),
        place=place_of_claim(outcome.expectation, claim),
    )


def _differences(
    before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    pairs = zip(before[1:], after[1:], strict=True)
    return tuple(printable(row[0]) for was, row in pairs if list(was) != list(row))


def _text(outcome: Outcome, finding: Finding) -> str:
    """The counterexample as `check` shows it, without colours."""
    words = words_of(outcome.expectation.problem)
    file = io.StringIO()
    console = Console(file=file, width=COLUMNS, color_system=None, force_terminal=False)
    shown = render_compact(finding.replayed, explanation=finding.explanation, lanes=words.lanes)
    console.print(shown)
    return "\n".join(printable(line) for line in file.getvalue().split("\n")).rstrip()


def place_of_action(expectation: Expectation, name: str) -> Place | None:
    """Where an action's effect is written."""
    actions = expectation.problem.model.actions
    action = next((each for each in actions if each.name == name), None)
    return None if action is None else _place_of(action.effect)


def place_of_claim(expectation: Expectation, name: str) -> Place | None:
    """Where a claim is written."""
    claim = next((each for each in expectation.problem.claims if each.name == name), None)
    if claim is None:
        return None
    match claim:
        case Invariant():
            return _place_of(claim.holds)
        case ActionProperty():
            return _place_of(claim.keeps)
    return _place_of(predicates_of(claim)[-1])


def _place_of(function: object) -> Place | None:
    try:
        source = source_of(function)
    except NotCompilable:
        return None
    path = Path(source.file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return Place(path.as_posix(), source.line)


def headline(outcome: Outcome) -> str:
    """All complaints in one line."""
    return "; ".join(complaint.text for complaint in outcome.complaints)


def describe_run(outcome: Outcome) -> str:
    """`22,131 distinct states, 58,405 generated, depth 32`, and that it was looked up if so."""
    if outcome.answer is None:
        return "no result"
    result = outcome.answer.result
    described = f"{quantity(result.distinct, 'distinct state')}, {result.generated:,} generated"
    kept = "; looked up: nothing that it depends on has changed" if outcome.answer.is_kept else ""
    return f"{described}, depth {result.depth}{kept}"


def describe_coverage(outcomes: Sequence[Outcome], whole: int, parts: Sequence[str]) -> str:
    """`Covered: 12 of 15 expectations (profile nightly), 34 verdicts, 1,204 states, ...`

    Of the actions those count that some expectation has, with a budget.
    """
    answered = [(each.expectation, each.answer.result) for each in outcomes if each.answer]
    results = [result for _, result in answered]
    taken: dict[tuple[str, str], int] = {}
    for result in results:
        model = result.problem.model
        for action in model.actions:
            name, times = action.name, result.fired.get(action.name, 0)
            if times or (name in model.contents and result.spent_budget(name) is None):
                taken[model.name, name] = taken.get((model.name, name), 0) + times
    verdicts = sum(len(expectation.verdicts) for expectation, _ in answered)
    within = f" ({', '.join(parts)})" if parts else ""
    return (
        f"Covered: {len(results):,} of {quantity(whole, 'expectation')}{within}, "
        f"{quantity(verdicts, 'verdict')}, "
        f"{quantity(sum(result.distinct for result in results), 'state')}; "
        f"{sum(map(bool, taken.values())):,} of {quantity(len(taken), 'action')} taken"
    )


def command_of(outcome: Outcome) -> str:
    """The command that shows the same."""
    claim = outcome.shown_claim
    asked = f" --invariant {claim}" if claim else ""
    return f"{outcome.expectation.command}{asked}"


def seconds_of(outcome: Outcome) -> float:
    """Seconds of its search; none where it was looked up."""
    answer = outcome.answer
    return 0.0 if answer is None or answer.is_kept else answer.result.seconds


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """A line an expectation."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Expectation", overflow="fold")
    table.add_column("Came out", no_wrap=True)
    table.add_column("States", justify="right", no_wrap=True)
    table.add_column("Seconds", justify="right", no_wrap=True)
    for outcome in outcomes:
        name = Text(outcome.expectation.name)
        for complaint in outcome.complaints:
            name.append(f"\n{complaint.text}", style="red")
        met = Text("as expected", "green") if outcome.is_met else Text("NO", BAD)
        answer = outcome.answer
        states = "" if answer is None else f"{answer.result.distinct:,}"
        took = "" if answer is None else f"{answer.result.seconds:.1f}"
        table.add_row(name, met, states, "kept" if answer and answer.is_kept else took)
    return table
