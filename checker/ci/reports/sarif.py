"""Complaints as SARIF 2.1.0, which code review shows at a line; a counterexample is a code flow.

A result is located where its claim is written, or at the expectation where it is about none; the
other of the two is a related location.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Complaint, Outcome
from waterline.checker.ci.positions import Place
from waterline.checker.ci.reports.text import (
    Counterexample,
    Step,
    command_of,
    counterexample,
    place_of_claim,
)
from waterline.checker.problem.distribution import version

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


class Located(Protocol):
    """A place in a file: of a gate, of a claim, of a setting."""

    @property
    def file(self) -> str:
        """The path as it was named."""

    @property
    def line(self) -> int:
        """From 1."""

    @property
    def column(self) -> int:
        """From 1."""


_OTHER_RULE = "expectation"


def to_sarif(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """Return SARIF with one run of the tool. What an interrupt has `left` is a notification."""
    results = [
        _result(outcome, complaint) for outcome in outcomes for complaint in outcome.complaints
    ]
    invocation = {
        "executionSuccessful": not left and all(o.trouble is None for o in outcomes),
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": f"interrupted, not judged: {each.name}"},
                "locations": [location_of(each.place)],
            }
            for each in left
        ],
    }
    return sarif_document(_rules(outcomes), invocation, results)


def sarif_document(
    rules: Mapping[str, str], invocation: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> str:
    """The text of a SARIF file with one run of the tool; `rules` have a sentence each."""
    described = [
        {"id": name, "shortDescription": {"text": sentence}} for name, sentence in rules.items()
    ]
    run = {
        "tool": {"driver": {"name": "Waterline", "version": version(), "rules": described}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def sarif_result(
    rule: str, level: str, message: str, place: Located, identity: str
) -> dict[str, Any]:
    """A result at a place; it is the same one later if its `identity` is."""
    digest = hashlib.sha256(identity.encode()).hexdigest()[:32]
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [location_of(place)],
        "partialFingerprints": {"waterline/v1": digest},
    }


def _rules(outcomes: Iterable[Outcome]) -> Mapping[str, str]:
    """Each claim that a complaint is about, once, and one for all else."""
    described = {
        _OTHER_RULE: "What is expected of a run comes out: counts, what must happen, an answer."
    }
    for outcome in outcomes:
        sentences = {claim.name: claim.sentence for claim in outcome.expectation.problem.claims}
        for complaint in outcome.complaints:
            if complaint.claim is not None:
                described[complaint.claim] = sentences[complaint.claim]
    return described


def _result(outcome: Outcome, complaint: Complaint) -> dict[str, Any]:
    expectation = outcome.expectation
    claim = complaint.claim and place_of_claim(expectation, complaint.claim)
    places = [expectation.place] if not claim else [claim, expectation.place]
    described = f"{expectation.name}: {complaint.text}. Shown by: {command_of(outcome)}"
    identity = f"{expectation.name}\n{complaint.claim or complaint.text}"
    rule = complaint.claim or _OTHER_RULE
    result = sarif_result(rule, "error", described, places[0], identity)
    if len(places) > 1:
        result["relatedLocations"] = [
            {"id": 1, **location_of(places[1]), "message": {"text": "what was expected"}}
        ]
    shown = counterexample(outcome)
    if shown is not None and complaint.claim == shown.claim:
        result["codeFlows"] = [_flow(shown, expectation.place)]
    return result


def _flow(shown: Counterexample, expected_at: Place) -> dict[str, Any]:
    steps = [_flow_step(step, expected_at) for step in shown.steps]
    last = location_of(shown.place or expected_at)
    end = {"location": {**last, "message": {"text": shown.explanation}}, "importance": "essential"}
    return {
        "message": {"text": shown.sentence},
        "threadFlows": [{"locations": [*steps, end]}],
    }


def _flow_step(step: Step, expected_at: Place) -> dict[str, Any]:
    text = f"{step.number}. {step.call}: {step.sentence}"
    place = location_of(step.place or expected_at)
    return {"location": {**place, "message": {"text": text}}, "executionOrder": step.number}


def location_of(place: Located) -> dict[str, Any]:
    """A line of a file, as SARIF has it."""
    path = Path(place.file)
    uri = path.as_uri() if path.is_absolute() else _relative(path)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": place.line, "startColumn": place.column},
        }
    }


def _relative(path: Path) -> str:
    """A path as a reference: what has another meaning in one is escaped."""
    base = Path("/")
    return (base / path).as_uri().removeprefix(base.as_uri())
