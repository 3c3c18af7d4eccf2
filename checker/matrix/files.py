"""A matrix as JSON and as CSV, for programs. `docs/matrix.md` describes the keys."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from checker.matrix.config_table import ConfigAnswer
from checker.matrix.grid import AXES
from checker.matrix.outcome import Outcome
from checker.matrix.running import Matrix
from counterexamples import to_json

FORMAT = "waterline-matrix/1"


def to_object(matrix: Matrix, answer: ConfigAnswer | None = None) -> dict[str, Any]:
    """The matrix as plain values. Only `engine` and the `seconds` depend on engine and machine."""
    grid = matrix.grid
    told: dict[str, Any] = {
        "format": FORMAT,
        "replicas": grid.replicas,
        "records": grid.records,
        "epochs": grid.epochs,
        "max_states": grid.max_states,
        "axes": {axis.name: [value.name for value in axis.values] for axis in grid.axes},
        "complete": matrix.complete,
        "distinct": matrix.distinct,
        "engine": matrix.engine,
        "seconds": round(matrix.seconds, 3),
        "cells": [_cell(outcome) for outcome in matrix.outcomes],
    }
    if answer is not None:
        told["settings"] = [asdict(setting) for setting in answer.config.settings]
        told["remedies"] = {
            fault: {
                "tried": found.tried,
                "unknown": found.unknown,
                "closing": [
                    {"changes": dict(remedy.changes), "distinct": remedy.outcome.answer.distinct}
                    for remedy in found.closing
                ],
            }
            for fault, found in answer.remedies.items()
        }
    return told


def to_text(matrix: Matrix, answer: ConfigAnswer | None = None) -> str:
    """The object, indented."""
    return json.dumps(to_object(matrix, answer), indent=2) + "\n"


def to_csv(matrix: Matrix) -> str:
    """A line a cell: where it lies, how it stands, and of every claim its verdict and depth."""
    written = io.StringIO()
    axes = [axis.name for axis in AXES]
    claims = [claim.name for claim in matrix.outcomes[0].claims]
    told = [column for name in claims for column in (name, f"{name} depth")]
    ends = ("distinct", "generated", "depth", "complete", "stopped_by")
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow([*axes, "standing", "worst", "worst depth", *told, *ends])
    for outcome in matrix.outcomes:
        worst, answer = outcome.worst, outcome.answer
        verdicts = [v for claim in outcome.claims for v in (claim.verdict.value, claim.depth)]
        lines.writerow(
            [
                *outcome.cell.at(),
                outcome.standing.value,
                *((worst.name, worst.depth) if worst else ("", "")),
                *verdicts,
                *(getattr(answer, end) for end in ends),
            ]
        )
    return written.getvalue()


def _cell(outcome: Outcome) -> dict[str, Any]:
    answer, worst, replayed = outcome.answer, outcome.worst, outcome.replayed
    return {
        "at": dict(outcome.cell.coordinates),
        "standing": outcome.standing.value,
        "label": outcome.label,
        "worst": worst.name if worst else None,
        "empty": outcome.emptiness,
        "claims": {
            claim.name: {
                "verdict": claim.verdict.value,
                "depth": claim.depth,
                "contract": claim.contract,
                "depth_clean": claim.depth_clean,
            }
            for claim in outcome.claims
        },
        "explanation": outcome.explanation or None,
        "trace": json.loads(to_json(replayed.trace)) if replayed else None,
        "distinct": answer.distinct,
        "generated": answer.generated,
        "depth": answer.depth,
        "complete": answer.complete,
        "stopped_by": answer.stopped_by,
        "cut": dict(answer.cut),
        "never": list(answer.never),
        "bounds": outcome.cell.environment.options(),
        "seconds": round(answer.seconds, 3),
    }
