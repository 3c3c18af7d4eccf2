"""Complaints as workflow commands of GitHub Actions, which it shows at lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reports.sarif import Located
from waterline.checker.ci.reports.text import command_of, counterexample, headline


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
        name, place = outcome.expectation.name, outcome.expectation.place
        yield workflow_command("error", name, place, "\n".join(described))
    for expectation in left:
        yield workflow_command(
            "warning", expectation.name, expectation.place, "interrupted, not judged"
        )


def workflow_command(kind: str, title: str, place: Located, message: str) -> str:
    """`::error file=...,line=...,col=...,title=...::message`; `kind` may be warning or notice."""
    facts = {
        "file": place.file,
        "line": str(place.line),
        "col": str(place.column),
        "title": title,
    }
    described = ",".join(f"{name}={_fact(value)}" for name, value in facts.items())
    return f"::{kind} {described}::{_escape(message)}"


def _escape(text: str) -> str:
    """Escape like GitHub's toolkit: a command is one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _fact(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
