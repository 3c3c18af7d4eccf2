"""HTML page of an answer about a deployment: classes of topics, faults, and their steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.deployed.keys import NOT_MODELLED
from waterline.checker.kafka.matrix.advice import cost
from waterline.checker.kafka.matrix.config_table import describe_answers
from waterline.checker.kafka.matrix.deployment_facts import describe_zones, facts_of
from waterline.checker.kafka.matrix.grid import FAULTS
from waterline.checker.kafka.matrix.matrix import ConfigAnswer, DeploymentAnswer
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.checker.kafka.matrix.properties import describe_topics
from waterline.checker.kafka.matrix.reason import loss_of, lost_of
from waterline.checker.kafka.matrix.table import counts, meanings
from waterline.checker.kafka.matrix.verdict_groups import (
    Group,
    groups_of,
    headline,
    known_causes,
    loses,
    precautions,
    signs,
    title_of,
    unexplored_faults,
    within,
    without_remedy,
)
from waterline.checker.problem.wording import quantity
from waterline.checker.report.pages.matrix_page import cell_ids, trace_names, traces_of
from waterline.checker.report.pages.page import render

_SENTENCES = {value.name: value.sentence for value in FAULTS}


def to_html(answer: DeploymentAnswer) -> str:
    """The page."""
    first, *_ = answer.answers
    traces = []
    for number, each in enumerate(answer.answers, start=1):
        names = trace_names(each.matrix.outcomes, _prefix(number))
        title = each.config.protocol.title
        traces += traces_of(each.matrix, names, prefix=_prefix(number), kafka=title)
    outcomes = [outcome for each in answer.answers for outcome in each.matrix.outcomes]
    return render(
        "deployment.html.j2",
        title=f"{first.config.protocol.title}: what can be lost",
        classes=[
            _class(each, number, answer.deployment)
            for number, each in enumerate(answer.answers, start=1)
        ],
        facts=list(facts_of(answer.deployment, answer.protocol)),
        unused=[(setting, NOT_MODELLED[setting.key]) for setting in answer.deployment.unused],
        reading=answer.deployment.notes,
        meanings=meanings(outcomes),
        traces=traces,
    )


def _prefix(number: int) -> str:
    return "" if number == 1 else f"class-{number}-"


def _class(answer: ConfigAnswer, number: int, deployment: Deployment) -> dict[str, Any]:
    names = trace_names(answer.matrix.outcomes, _prefix(number))
    ids = cell_ids(answer.matrix, _prefix(number))
    config = answer.config
    topics = describe_topics(config.topics, most=10)
    replicas = quantity(config.yours.replicas, "replica")
    rows = [
        {
            "name": outcome.fault,
            "sentence": _SENTENCES[outcome.fault],
            "kind": "violated" if loss_of(outcome) else outcome.standing.value,
            "label": _label(outcome),
            "trace": names.get(outcome.cell.at()),
            "id": ids[outcome.cell.at()],
            "lines": [line.plain for line in describe_answers(outcome, answer)],
        }
        for outcome in answer.matrix.outcomes
    ]
    return {
        "topics": f"{topics}: {replicas}, min.insync.replicas={config.yours.min_insync}",
        "headline": headline(answer),
        "kind": "violated"
        if loses(answer)
        else "incomplete"
        if unexplored_faults(answer)
        else "holds",
        "within": within(answer),
        "interrupted": answer.matrix.interrupted,
        "groups": [_group(group, answer) for group in groups_of(answer)],
        "rows": rows,
        "zones": list(describe_zones(deployment, config)),
        "settings": config.settings,
        "notes": config.notes,
        "counts": counts(answer.matrix).plain,
    }


def _label(outcome: Outcome) -> str:
    """`loses an acknowledged record after 6 steps`, or what stands in its cell."""
    loss = loss_of(outcome)
    if loss is None:
        is_unknown = outcome.stand_in and outcome.standing is Standing.INCOMPLETE
        return "not explored in your size" if is_unknown else outcome.label
    there = ", explored in another size" if outcome.stand_in else ""
    return f"loses {lost_of(outcome)} after {quantity(loss.depth or 0, 'step')}{there}"


def _group(group: Group, answer: ConfigAnswer) -> dict[str, Any]:
    return {"title": title_of(group, answer), "lines": list(_lines(group, answer))}


def _lines(group: Group, answer: ConfigAnswer) -> Iterator[str]:
    yield f"With {', '.join(outcome.fault for outcome in group.outcomes)}."
    yield from known_causes(group, answer)
    yield from precautions(group, answer)
    yield from signs(group, answer)
    if group.remedy is not None:
        changes = group.remedy.changes
        prevented = f"prevents {len(group.closes)} of {len(group.outcomes)}"
        yield f"Remedy: {changes.description}: {prevented} ({', '.join(group.closes)})."
        if costs := " ".join(cost(changes, answer.config)):
            yield f"Cost: {costs}"
    elif without := without_remedy(group, answer):
        yield without
