"""Findings of an answer, each at the line of the setting that it is about, for code review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.deployed.keys import MIN_INSYNC, TOPIC_REPLICATION
from checker.kafka.deployed.setting import Place, Setting
from checker.kafka.matrix.advice import cost
from checker.kafka.matrix.config_answer import ConfigAnswer, DeploymentAnswer
from checker.kafka.matrix.grid import FAULT
from checker.kafka.matrix.properties import describe_topics, one_replica, unwritable
from checker.kafka.matrix.reason import loss_of, named
from checker.kafka.matrix.verdict_groups import Group, groups_of, title_of, within

LOSES = "loses-acknowledged-record"
HARMS = "harm-without-loss"
REFUSES = "writes-always-refused"
ALONE = "one-replica"
RULES = {
    LOSES: "A fault can lose a record that was acknowledged to its producer.",
    HARMS: "A fault lets logs differ, or leaves nobody that can lead; no record is lost by that.",
    REFUSES: "A topic needs more replicas in sync than it has, so that acks=all is refused.",
    ALONE: "A topic has one replica, so that one lost disk loses all its records.",
}
ERROR, WARNING, NOTE = "error", "warning", "note"
"""Levels of SARIF: a change of settings closes it; an upgrade does; nothing that was explored."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where, and what to do. `topics` in words, `faults` by name."""

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
    return [*found, *_of_topics(answer, at)]


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
    faults = tuple(outcome.cell.coordinates[FAULT] for outcome in group.outcomes)
    topics = describe_topics(config.topics)
    what = "can lose acknowledged records" if group.losing else "can do harm without a loss"
    why = " and ".join(map(named, group.reason.settings)) or config.protocol.title
    steps = [loss.depth for loss in map(loss_of, group.outcomes) if loss and loss.depth]
    least = f", after {min(steps)} steps at the soonest" if steps else ""
    text = f"{why} {what} of {topics} with {', '.join(faults)}{least}"
    text += f" ({config.protocol.title}; explored with {within(answer)})."
    if not group.reason.settings:
        text += f" {title_of(group, answer)}."
    if group.remedy is not None:
        count = f"{len(group.closes)} of {len(faults)}"
        text += f" To close {count}: {group.remedy.changes.description}."
        if costs := " ".join(cost(group.remedy.changes, config)):
            text += f" Cost: {costs}"
    level = NOTE if setting is None else ERROR if group.is_of_settings else WARNING
    return Finding(
        LOSES if group.losing else HARMS,
        level if group.losing else NOTE,
        text,
        at.of(setting),
        setting.key if setting else None,
        setting.value if setting else None,
        faults,
        topics,
    )


def _of_topics(answer: DeploymentAnswer, at: _Placing) -> Iterator[Finding]:
    topics = {topic.name: topic for topic in answer.deployment.topics}
    for name in unwritable(answer.deployment):
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
