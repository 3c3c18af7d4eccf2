"""The outcomes as one JSON object, for programs: `docs/schemas/gate-report.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Evidence, Outcome
from waterline.checker.ci.reports.text import command_of
from waterline.counterexamples import to_json as trace_to_json

FORMAT = "waterline-gate/1"


def to_json(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """Return expectations and outcomes as JSON, in the order of the file."""
    report = {
        "format": FORMAT,
        "met": not left and all(outcome.is_met for outcome in outcomes),
        "outcomes": [
            *map(_outcome, outcomes),
            *({**_expectation(each), "status": "not judged", "complaints": []} for each in left),
        ],
    }
    return json.dumps(report, indent=1) + "\n"


def _expectation(expectation: Expectation) -> dict[str, Any]:
    model, place = expectation.problem.model, expectation.place
    return {
        "name": expectation.name,
        "file": place.file,
        "line": place.line,
        "model": model.name,
        "protocol": model.version,
        "bounds": dict(model.options),
        "symmetry": expectation.problem.symmetry.value,
        "expected": {
            name: {"verdict": each.verdict, "depth": each.depth}
            for name, each in expectation.verdicts.items()
        },
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    described = {
        **_expectation(outcome.expectation),
        "status": "met" if outcome.is_met else "error" if outcome.trouble else "failed",
        "complaints": [{"claim": c.claim, "text": c.text} for c in outcome.complaints],
        "command": command_of(outcome),
    }
    return described if outcome.answer is None else {**described, **_answer(outcome.answer)}


def _answer(answer: Evidence) -> dict[str, Any]:
    result = answer.result
    return {
        "kept": answer.is_kept,
        "complete": result.complete,
        "stopped_by": result.stopped_by,
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "seconds": round(result.seconds, 3),
        "invariants": {
            r.name: {
                "verdict": r.verdict.value,
                "depth": r.depth,
                "contract": result.contract_of(r.name) if r.depth is not None else None,
                "trace": (
                    json.loads(trace_to_json(answer.traces[r.name]))
                    if r.name in answer.traces
                    else None
                ),
            }
            for r in result.invariants
        },
        "reachable": {r.name: r.depth for r in result.reachable},
    }
