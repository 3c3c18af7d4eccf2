"""A matrix, and an answer about a deployment, as JSON and as CSV, for programs.

`docs/matrix.md` and `docs/operators.md` describe the keys.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.matrix.advice import Remedy, cost
from waterline.checker.kafka.matrix.deployment_facts import describe_zones, facts_of
from waterline.checker.kafka.matrix.findings import Finding
from waterline.checker.kafka.matrix.grid import AXES
from waterline.checker.kafka.matrix.matrix import ConfigAnswer, DeploymentAnswer, Matrix
from waterline.checker.kafka.matrix.outcome import Outcome, describe_command
from waterline.checker.kafka.matrix.properties import describe_topics
from waterline.checker.kafka.matrix.verdict_groups import headline, within
from waterline.checker.kafka.matrix.without_bounds import Unbounded
from waterline.counterexamples import to_json

FORMAT = "waterline-matrix/2"


def to_object(matrix: Matrix) -> dict[str, Any]:
    """The matrix as plain values. Only `engine` and the `seconds` depend on engine and machine."""
    grid = matrix.grid
    return {
        "format": FORMAT,
        "replicas": grid.replicas,
        "records": grid.records,
        "epochs": grid.epochs,
        "records_max": max(grid.records, grid.records_max),
        "epochs_max": max(grid.epochs, grid.epochs_max),
        "max_states": grid.max_states,
        "axes": {axis.name: [value.name for value in axis.values] for axis in grid.axes},
        "complete": matrix.complete,
        "interrupted": matrix.interrupted,
        "distinct": matrix.distinct,
        "engine": matrix.engine,
        "seconds": round(matrix.seconds, 3),
        "cells": [_cell(outcome) for outcome in matrix.outcomes],
    }


def to_csv(matrix: Matrix) -> str:
    """A line a cell: where it lies, how it stands, and of every claim its verdict and depth."""
    written = io.StringIO()
    axes = [axis.name for axis in AXES]
    claims = [claim.name for claim in matrix.outcomes[0].claims]
    text = [column for name in claims for column in (name, f"{name} depth")]
    sizes = ("records", "epochs")
    stands = ("label", "standing", "worst", "worst depth")
    ends = ("distinct", "generated", "depth", "complete", "stopped_by")
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow([*axes, *stands, *text, *sizes, "cut by epochs", *ends, "bounded"])
    for outcome in matrix.outcomes:
        worst, answer = outcome.worst, outcome.answer
        verdicts = [v for claim in outcome.claims for v in (claim.verdict.value, claim.depth)]
        lines.writerow(
            [
                *outcome.cell.at(),
                outcome.label,
                outcome.standing.value,
                *((worst.name, worst.depth) if worst else ("", "")),
                *verdicts,
                *(getattr(outcome.cell.environment, size) for size in sizes),
                outcome.is_cut_by_epochs,
                *(getattr(answer, end) for end in ends),
                outcome.is_bounded,
            ]
        )
    return written.getvalue()


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "changes": dict(remedy.changes.values),
        "told": remedy.changes.description,
        "label": remedy.label,
        "closes": remedy.closes,
        "distinct": remedy.outcome.answer.distinct,
    }


def _unbounded_document(found: Unbounded) -> dict[str, Any]:
    answer = found.answer
    return {
        "records": found.records,
        "confirms": found.confirms,
        "scope": found.scope or None,
        "breaks": dict(found.breaks),
        "why": found.why or None,
        "complete": answer is not None and answer.complete,
        "stopped_by": answer.stopped_by if answer else None,
        "distinct": answer.distinct if answer else 0,
        "depth": answer.depth if answer else 0,
        "seconds": round(answer.seconds, 3) if answer else 0.0,
    }


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
        "command": describe_command(outcome) if worst else None,
        "trace": json.loads(to_json(replayed.trace)) if replayed else None,
        "distinct": answer.distinct,
        "generated": answer.generated,
        "depth": answer.depth,
        "complete": answer.complete,
        "stopped_by": answer.stopped_by,
        "explored_as": outcome.stand_in or None,
        "cut": dict(answer.cut),
        "cut_by_epochs": outcome.is_cut_by_epochs,
        "unfinished": asdict(outcome.unfinished) if outcome.unfinished else None,
        "unbounded": _unbounded_document(outcome.unbounded) if outcome.unbounded else None,
        "fired": dict(answer.fired),
        "never": list(answer.never),
        "bounds": outcome.cell.environment.options(),
        "seconds": round(answer.seconds, 3),
    }


def deployment_object(answer: DeploymentAnswer, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the worst class of topics as `to_object` does, with a list of the others."""
    first, *others = answer.answers
    return {
        **_class(first, answer.deployment),
        "complete": answer.complete,
        "interrupted": answer.interrupted,
        "other_classes": [_class(each, answer.deployment) for each in others],
        "findings": [asdict(finding) for finding in findings],
        "facts": list(facts_of(answer.deployment, answer.protocol)),
        "unused": [asdict(setting) for setting in answer.deployment.unused],
        "reading": list(answer.deployment.notes),
        "sources": list(answer.deployment.sources),
    }


def _class(answer: ConfigAnswer, deployment: Deployment) -> dict[str, Any]:
    config = answer.config
    best = answer.advice.recommendation
    return {
        **to_object(answer.matrix),
        "settings": [asdict(setting) for setting in config.settings],
        "kafka": config.kafka,
        "notes": list(config.notes),
        "remedies": {
            fault: [_remedy(remedy) for remedy in remedies]
            for fault, remedies in answer.advice.tried.items()
        },
        "recommendation": best
        and {
            "changes": dict(best.changes.values),
            "told": best.changes.description,
            "closes": list(best.closes),
            "cost": list(cost(best.changes, config)),
        },
        "like": {
            fault: [
                {"entry": k.scenario.number, "repair": k.repair.description, "steps": k.steps}
                for k in kin
            ]
            for fault, kin in answer.kin.items()
        },
        "title": config.protocol.title,
        "headline": headline(answer),
        "within": within(answer),
        "topics": list(config.topics),
        "zones": list(describe_zones(deployment, config)),
        "replication_factor": config.yours.replicas,
        "explored_as": config.stand_in or None,
    }


def as_text(values: Mapping[str, Any]) -> str:
    """Plain values as JSON, indented."""
    return json.dumps(values, indent=2) + "\n"


def deployment_csv(answer: DeploymentAnswer) -> str:
    """A line a cell; with several classes of topics their names come first."""
    if len(answer.answers) == 1:
        return to_csv(answer.answers[0].matrix)
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    for number, each in enumerate(answer.answers):
        header, *rows = csv.reader(io.StringIO(to_csv(each.matrix)))
        if number == 0:
            lines.writerow(["topics", "replicas", *header])
        names = describe_topics(each.config.topics)
        lines.writerows([names, each.config.explored.replicas, *row] for row in rows)
    return written.getvalue()
