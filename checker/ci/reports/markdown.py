"""The outcomes as Markdown, for the summary of a CI job: a table, and each counterexample drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reports.text import (
    Counterexample,
    command_of,
    counterexample,
    seconds_of,
)

_DRAWN_MAX = 10
"""Most counterexamples to draw; a summary of GitHub's has room for a megabyte."""


def to_markdown(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """First what is not as expected, then a table of all."""
    failed = [outcome for outcome in outcomes if not outcome.is_met]
    lines = ["# Waterline gate", "", _summary(outcomes, left), ""]
    for number, outcome in enumerate(failed):
        lines += _failure(outcome, is_drawn=number < _DRAWN_MAX)
    lines += ["| Expectation | Came out | States | Seconds |", "|---|---|---:|---:|"]
    lines += [_row(outcome) for outcome in outcomes]
    lines += [f"| {_inline(each.name)} | not judged | | |" for each in left]
    return "\n".join(lines) + "\n"


def _summary(outcomes: Sequence[Outcome], left: Sequence[Expectation]) -> str:
    met = sum(outcome.is_met for outcome in outcomes)
    described = f"**{met} of {len(outcomes) + len(left)} as expected.**"
    return f"{described} Interrupted: {len(left)} were not judged." if left else described


def _row(outcome: Outcome) -> str:
    answer = outcome.answer
    states = f"{answer.result.distinct:,}" if answer else ""
    took = "kept" if answer and answer.is_kept else f"{seconds_of(outcome):.1f}"
    came_out = "as expected" if outcome.is_met else "**NO**"
    return f"| {_inline(outcome.expectation.name)} | {came_out} | {states} | {took} |"


def _failure(outcome: Outcome, *, is_drawn: bool) -> Iterator[str]:
    yield f"## {_inline(outcome.expectation.name)}"
    yield ""
    yield from (f"* {_inline(complaint.text)}" for complaint in outcome.complaints)
    yield ""
    yield f"Expected at `{outcome.expectation.place}`. Shown by"
    yield ""
    yield f"    {command_of(outcome)}"
    yield ""
    shown = counterexample(outcome)
    if shown is None:
        return
    yield f"**{_inline(shown.claim)}**: {_inline(shown.sentence)} {_inline(shown.explanation)}"
    yield ""
    if is_drawn and shown.names:
        yield from _draw(shown)
    yield from ("<details><summary>The steps</summary>", "")
    yield from (f"{step.number}. {_inline(step.sentence)}" for step in shown.steps)
    yield from ("", "</details>", "")


def _draw(shown: Counterexample) -> Iterator[str]:
    """A sequence diagram: a line down for each row of a state, a note for each step."""
    ends = shown.names[0], shown.names[-1]
    yield from ("```mermaid", "sequenceDiagram")
    yield from (f"    participant {_word(name)}" for name in shown.names)
    for step in shown.steps:
        changed = step.changed or ends
        over = ",".join(dict.fromkeys(map(_word, (changed[0], changed[-1]))))
        yield f"    Note over {over}: {step.number}. {_drawable(step.call)}"
    over = ",".join(dict.fromkeys(map(_word, ends)))
    yield f"    Note over {over}: {_drawable(shown.explanation)}"
    yield from ("```", "")


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _drawable(text: str) -> str:
    """Without what ends a line of Mermaid's."""
    return text.replace("#", "").replace(";", ",")


def _inline(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
