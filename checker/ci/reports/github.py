"""Complaints as workflow commands of GitHub Actions, which it shows at lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.ci.expectation import Expectation
from checker.ci.judging import Outcome
from checker.ci.reports.text import command_of, counterexample, headline


def workflow_commands(
    outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()
) -> Iterator[str]:
    """`::error file=gate.toml,line=3,...::hw loses: ...`, a line for each not as expected."""
    for outcome in outcomes:
        if outcome.is_met:
            continue
        described = [headline(outcome), f"Shown by: {command_of(outcome)}"]
        if shown := counterexample(outcome):
            described += [f"{step.number}. {step.sentence}" for step in shown.steps]
            described.append(shown.explanation)
        yield _command("error", outcome.expectation, "\n".join(described))
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
    described = ",".join(f"{name}={_fact(value)}" for name, value in facts.items())
    return f"::{kind} {described}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """As the toolkit of GitHub's does: a command is one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fact(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
