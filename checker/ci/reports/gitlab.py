"""The complaints as a GitLab code quality report, which merge requests show at a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reports.text import command_of, counterexample


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
