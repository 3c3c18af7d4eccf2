"""Findings of an answer, each at the line of the setting that it is about, for code review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.deployed.deployment import Place, Setting
from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC, TOPIC_REPLICATION
from waterline.checker.kafka.matrix.advice import cost
from waterline.checker.kafka.matrix.deployment_facts import elr_in_danger
from waterline.checker.kafka.matrix.matrix import ConfigAnswer, DeploymentAnswer
from waterline.checker.kafka.matrix.properties import describe_topics, one_replica, unwritable
from waterline.checker.kafka.matrix.reason import loss_of, lost_of, name_setting
from waterline.checker.kafka.matrix.verdict_groups import (
    Group,
    groups_of,
    title_of,
    why_unexplored,
    within,
    without_remedy,
)

LOSES = "loses-acknowledged-record"
LOSES_COMMITTED = "loses-committed-record"
UNANSWERED = "producer-waits-for-nothing"
UNKNOWN = "not-explored"
HARMS = "harm-without-loss"
REFUSES = "writes-always-refused"
ALONE = "one-replica"
EMPTY_IN_ELR = "empty-log-in-elr"
RULES = {
    LOSES: "A fault can lose a record that was acknowledged to its producer.",
    LOSES_COMMITTED: "A fault can lose a record that was committed.",
    UNANSWERED: "With acks=0 a producer never learns which of its records were lost.",
    UNKNOWN: "Of some faults nothing may be concluded.",
    HARMS: "A fault lets logs differ, or leaves nobody that can lead; no record is lost by that.",
    REFUSES: "A topic needs more replicas in sync than it has, so that acks=all is refused.",
    EMPTY_IN_ELR: "A broker in the ELR may be elected although its log is empty or incomplete.",
    ALONE: "A topic has one replica, so that one lost disk loses all its records.",
}
_ACKNOWLEDGED = "an acknowledged record"
ERROR, WARNING, NOTE = "error", "warning", "note"
"""Levels of SARIF: a change of settings prevents it, or a partition is in danger now; an upgrade
does; nothing that was tried."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Fault, its place and its remedy. `topics` are in words, `faults` by name."""

    rule: str
    level: str
    message: str
    place: Place
    setting: str | None
    value: str | None
    faults: tuple[str, ...]
    topics: str


def findings_of(answer: DeploymentAnswer, file: Path) -> list[Finding]:
    """All of them, worst class first. What no line says stands at line 1 of `file`."""
    at = _Placing(file, answer)
    found = [_finding(each, group, at) for each in answer.answers for group in groups_of(each)]
    of_classes = [finding for each in answer.answers for finding in _of_class(each, at)]
    return [*found, *of_classes, *_of_topics(answer, at)]


class _Placing:
    def __init__(self, file: Path, answer: DeploymentAnswer) -> None:
        settings = list(answer.deployment.brokers.values())
        first = next((setting.place for setting in settings if setting.place), None)
        self._fallback = Place(first.file if first else str(file), 1)

    def of(self, setting: Setting | None) -> Place:
        """The line of a setting, or the beginning of the file where it could be written."""
        return setting.place if setting is not None and setting.place else self._fallback


def _finding(answer: ConfigAnswer, group: Group, at: _Placing) -> Finding:
    config, setting = answer.config, group.reason.setting
    faults = tuple(outcome.fault for outcome in group.outcomes)
    topics = describe_topics(config.topics)
    records = {lost_of(outcome) for outcome in group.losing}
    lost = sorted(record.split(" ", 1)[1] for record in records)
    what = f"can lose {' and '.join(lost)}s" if lost else "can do harm without a loss"
    why = " and ".join(map(name_setting, group.reason.settings)) or config.protocol.title
    steps = [loss.depth for loss in map(loss_of, group.outcomes) if loss and loss.depth]
    least = f", after {min(steps)} steps at the soonest" if steps else ""
    text = f"{why} {what} of {topics} with {', '.join(faults)}{least}"
    how = f"explored as {config.stand_in}" if config.stand_in else f"checked with {within(answer)}"
    text += f" ({config.protocol.title}; {how})."
    if not group.reason.settings:
        text += f" {title_of(group, answer)}."
    if group.remedy is not None:
        count = f"{len(group.closes)} of {len(faults)}"
        text += f" Remedy for {count}: {group.remedy.changes.description}."
        if costs := " ".join(cost(group.remedy.changes, config)):
            text += f" Cost: {costs}"
    elif without := without_remedy(group, answer):
        text += f" {without}"
    level = NOTE if setting is None else ERROR if group.is_of_settings else WARNING
    loses = LOSES if _ACKNOWLEDGED in records else LOSES_COMMITTED
    return Finding(
        loses if group.losing else HARMS,
        level if group.losing else NOTE,
        text,
        at.of(setting),
        setting.key if setting else None,
        setting.value if setting else None,
        faults,
        topics,
    )


def _of_class(answer: ConfigAnswer, at: _Placing) -> Iterator[Finding]:
    """Yield the findings "nothing is acknowledged" and "nothing is known about these faults"."""
    config = answer.config
    topics = describe_topics(config.topics)
    if config.acks == "0":
        setting = config.setting(ACKS)
        text = f"{topics}: {RULES[UNANSWERED]} Remedy: set acks=all."
        yield Finding(UNANSWERED, ERROR, text, at.of(setting), ACKS, "0", (), topics)
    for why, unknown in why_unexplored(answer).items():
        setting = config.setting(MIN_INSYNC)
        how = why or "not explored to the end"
        text = f"Nothing may be concluded for {topics} with {', '.join(unknown)}: {how}."
        place = at.of(setting)
        yield Finding(UNKNOWN, NOTE, text, place, None, None, tuple(unknown), topics)


def _of_topics(answer: DeploymentAnswer, at: _Placing) -> Iterator[Finding]:
    for name, broker, place, text in elr_in_danger(answer.deployment):
        at_place = place or at.of(None)
        yield Finding(EMPTY_IN_ELR, ERROR, text, at_place, None, str(broker), (), name)
    topics = {topic.name: topic for topic in answer.deployment.topics}
    for name in unwritable(answer.deployment, answer.protocol):
        setting = topics[name].settings.get(MIN_INSYNC) or topics[name].settings.get(
            TOPIC_REPLICATION
        )
        text = f"{name}: {MIN_INSYNC} is more than its replicas, so that acks=all is refused."
        value = setting.value if setting else None
        yield Finding(REFUSES, ERROR, text, at.of(setting), MIN_INSYNC, value, (), name)
    for topic in one_replica(answer.deployment):
        setting = topic.settings.get(TOPIC_REPLICATION)
        text = f"{topic.name} has one replica: one lost disk loses all its records."
        yield Finding(ALONE, WARNING, text, at.of(setting), TOPIC_REPLICATION, "1", (), topic.name)
