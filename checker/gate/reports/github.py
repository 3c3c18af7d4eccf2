"""Complaints as workflow commands of GitHub Actions, which it shows at lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.gate.expectation import Expectation
from checker.gate.judging import Outcome
from checker.gate.reports.telling import command_of, counterexample, headline


def workflow_commands(
    outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()
) -> Iterator[str]:
    """`::error file=gate.toml,line=3,...::hw loses: ...`, a line for each not as expected."""
    for outcome in outcomes:
        if outcome.is_met:
            continue
        told = [headline(outcome), f"Shown by: {command_of(outcome)}"]
        if shown := counterexample(outcome):
            told += [f"{step.number}. {step.sentence}" for step in shown.steps]
            told.append(shown.explanation)
        yield _command("error", outcome.expectation, "\n".join(told))
    for expectation in left:
        yield _command("warning", expectation, "interrupted, not judged")


def _command(kind: str, expectation: Expectation, message: str) -> str:
    place = expectation.place
    facts = {
        "file": place.file,
        "line": str(place.line),
        "col": str(place.column),
        "title": expectation.name,
    }
    told = ",".join(f"{name}={_fact(value)}" for name, value in facts.items())
    return f"::{kind} {told}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """As the toolkit of GitHub's does: a command is one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fact(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
