"""An answer about a deployment as JSON and as CSV. `docs/operators.md` describes the keys."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from waterline.checker.kafka.matrix import files
from waterline.checker.kafka.matrix.config_answer import ConfigAnswer, DeploymentAnswer
from waterline.checker.kafka.matrix.deployment_facts import facts_of
from waterline.checker.kafka.matrix.findings import Finding
from waterline.checker.kafka.matrix.properties import describe_topics
from waterline.checker.kafka.matrix.verdict_groups import headline, within


def to_object(answer: DeploymentAnswer, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the worst class of topics as `files.to_object` does, with a list of the others."""
    first, *others = answer.answers
    return {
        **_class(first),
        "complete": answer.complete,
        "interrupted": answer.interrupted,
        "other_classes": [_class(each) for each in others],
        "findings": [asdict(finding) for finding in findings],
        "facts": list(facts_of(answer.deployment, answer.protocol)),
        "unused": [asdict(setting) for setting in answer.deployment.unused],
        "reading": list(answer.deployment.notes),
        "sources": list(answer.deployment.sources),
    }


def _class(answer: ConfigAnswer) -> dict[str, Any]:
    return {
        **files.to_object(answer.matrix, answer),
        "title": answer.config.protocol.title,
        "headline": headline(answer),
        "within": within(answer),
        "topics": list(answer.config.topics),
        "replication_factor": answer.config.yours.replicas,
        "explored_as": answer.config.stand_in or None,
    }


def to_text(answer: DeploymentAnswer, findings: Sequence[Finding]) -> str:
    """The object, indented."""
    return json.dumps(to_object(answer, findings), indent=2) + "\n"


def to_csv(answer: DeploymentAnswer) -> str:
    """A line a cell; with several classes of topics their names come first."""
    if len(answer.answers) == 1:
        return files.to_csv(answer.answers[0].matrix)
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    for number, each in enumerate(answer.answers):
        header, *rows = csv.reader(io.StringIO(files.to_csv(each.matrix)))
        if number == 0:
            lines.writerow(["topics", "replicas", *header])
        names = describe_topics(each.config.topics)
        lines.writerows([names, each.config.explored.replicas, *row] for row in rows)
    return written.getvalue()
