"""Complaints at lines: workflow commands of GitHub Actions, code quality reports of GitLab."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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


def to_gitlab(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """An array with a finding for each complaint, and for each expectation that was not judged.

    Each is located at its expectation: GitLab shows findings in files of the project alone.
    """
    findings = [
        _finding(
            outcome.expectation,
            complaint.claim or "expectation",
            f"{outcome.expectation.name}: {complaint.text}. Shown by: {command_of(outcome)}",
            complaint.text,
            "blocker" if counterexample(outcome) else "critical",
        )
        for outcome in outcomes
        for complaint in outcome.complaints
    ]
    findings += [
        _finding(each, "expectation", f"{each.name}: interrupted, not judged", "", "info")
        for each in left
    ]
    return json.dumps(findings, indent=1) + "\n"


def _finding(
    expectation: Expectation, check: str, description: str, described: str, severity: str
) -> dict[str, Any]:
    # A depth or a count that changes is the same finding still.
    subject = described.split(":", maxsplit=1)[0]
    identity = f"{expectation.name}\n{check}\n{subject}".encode()
    return {
        "description": description,
        "check_name": f"waterline/{check}",
        "fingerprint": hashlib.sha256(identity).hexdigest()[:32],
        "severity": severity,
        "location": {
            "path": Path(expectation.place.file).as_posix().removeprefix("./"),
            "lines": {"begin": expectation.place.line},
        },
    }
