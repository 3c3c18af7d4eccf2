"""Output of Kafka's tools: kafka-topics, kafka-configs and kafka-features, each with `--describe`.

Formats are those of TopicCommand, ConfigCommand and FeatureCommand from 0.10 to 4.4; older tools
write no space after a colon, and all settings in one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.deployed.deployment import Deployment, Topic
from checker.kafka.deployed.keys import (
    ELIGIBLE,
    METADATA,
    NOT_MODELLED,
    SOFTWARE,
    TOPIC_REPLICATION,
)
from checker.kafka.deployed.properties_file import sorted_out
from checker.kafka.deployed.setting import Mistakes, Place, Setting

_NAME = r"(?:(?:Adding|Removing) )?[A-Z]\w*"
_FIELD = re.compile(rf"(?:^|\s)({_NAME}):[ ]?(.*?)(?=\s+{_NAME}:|$)")
"""Fields have tabs between them, or spaces, where they were copied from a screen."""
_NEXT_KEY = re.compile(r",(?=[A-Za-z][\w.-]*=)")
_TOPIC_LINE = re.compile(r"\s*Topic:")
_FEATURE_LINE = re.compile(r"\s*Feature:\s")
_ENTITY = r"(topic|broker|brokers|client-id|user|user-principal|ip|client-metrics|group)"
_CONFIGS_HEADER = re.compile(
    rf"\s*(?:(?:All|Dynamic|Default|Quota)? ?configs for {_ENTITY}(?:-logger)? ?(.*?) are:?)",
    re.IGNORECASE,
)
_CONFIG_LINE = re.compile(r"\s+([\w.-]+)=(.*?)(?: sensitive=(?:true|false) synonyms=\{(.*)\})?")
_SAYS = {
    "DYNAMIC_TOPIC_CONFIG": "set for the topic",
    "DYNAMIC_BROKER_CONFIG": "set for the broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "set for all brokers",
    "STATIC_BROKER_CONFIG": "broker's server.properties",
    "DEFAULT_CONFIG": "Kafka's default",
}
"""What sources of kafka-configs are called here (ConfigEntry.ConfigSource)."""


def is_topics_output(text: str) -> bool:
    """Whether it is what `kafka-topics --describe` prints."""
    lines = [line for line in text.splitlines() if line.strip()]
    return any(
        _TOPIC_LINE.match(line) and ("PartitionCount:" in line or "Partition:" in line)
        for line in lines[:20]
    )


def is_configs_output(text: str) -> bool:
    """Whether it is what `kafka-configs --describe` prints."""
    return any(_CONFIGS_HEADER.match(line) for line in text.splitlines()[:20])


def is_features_output(text: str) -> bool:
    """Whether it is what `kafka-features describe` prints."""
    return any(_FEATURE_LINE.match(line) for line in text.splitlines()[:20])


@dataclass(slots=True)
class _Counted:
    """What the lines of a topic add up to."""

    settings: dict[str, Setting] = field(default_factory=dict)
    replicas: dict[int, tuple[int, int]] = field(default_factory=dict)
    partitions: int | None = None
    under_replicated: int = 0
    leaderless: int = 0
    has_partitions: bool = False


def read_topics_output(path: Path, text: str, mistakes: Mistakes) -> Deployment:
    """The topics that `kafka-topics --describe` has printed.

    With options such as --under-replicated-partitions it prints partitions alone: then neither are
    these all topics, nor are their settings there. `Configs:` are all values that are not Kafka's
    default: the topic's own, and those of its brokers. Where a summary line is missing, the
    replicas of the partitions are counted.
    """
    topics: dict[str, _Counted] = {}
    unused: dict[str, Setting] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not _TOPIC_LINE.match(line):
            continue
        fields = {key: value.strip() for key, value in _FIELD.findall(line.lstrip())}
        name, place = fields.get("Topic", ""), Place(str(path), number)
        if not name:
            mistakes.add(f"{path.name}:{number}: a topic without a name; describe it once more")
            continue
        topic = topics.setdefault(name, _Counted())
        if "Partition" in fields:
            _count_partition(topic, fields, number)
            continue
        topic.partitions = _number(fields.get("PartitionCount"))
        given = [
            Setting(key, value, path.name, place) for key, value in _configs(fields.get("Configs"))
        ]
        if factor := fields.get("ReplicationFactor"):
            given.append(Setting(TOPIC_REPLICATION, factor, path.name, place))
        used, ignored = sorted_out(given, mistakes)
        topic.settings |= used
        unused |= {setting.key: setting for setting in ignored if setting.key not in unused}
    is_whole = any(topic.partitions is not None for topic in topics.values())
    partial = f"{path.name} lists partitions alone: other topics, and all settings, are not in it."
    return Deployment(
        topics=tuple(_topic(path, name, counted) for name, counted in topics.items()),
        has_all_topics=is_whole,
        notes=() if is_whole else (partial,),
        unused=tuple(unused.values()),
        sources=(path.name,),
    )


def _count_partition(topic: _Counted, fields: dict[str, str], line: int) -> None:
    assigned = _listed(fields.get("Replicas"))
    # Replicas that a reassignment adds are not expected to be in sync yet.
    replicas = [part for part in assigned if part not in _listed(fields.get("Adding Replicas"))]
    in_sync = _listed(fields.get("Isr"))
    topic.has_partitions = True
    topic.replicas.setdefault(len(replicas), (line, 0))
    first, count = topic.replicas[len(replicas)]
    topic.replicas[len(replicas)] = (first, count + 1)
    topic.under_replicated += len(in_sync) < len(replicas)
    topic.leaderless += fields.get("Leader", "") in ("none", "-1")


def _listed(text: str | None) -> list[str]:
    """`1,2,3`"""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _topic(path: Path, name: str, counted: _Counted) -> Topic:
    settings = dict(counted.settings)
    if counted.replicas and TOPIC_REPLICATION not in settings:
        # A partition with fewer replicas than the others is the one that is told.
        fewest = min(counted.replicas)
        place = Place(str(path), counted.replicas[fewest][0])
        settings[TOPIC_REPLICATION] = Setting(TOPIC_REPLICATION, str(fewest), path.name, place)
    known = counted.has_partitions
    total = sum(count for _, count in counted.replicas.values())
    return Topic(
        name=name,
        settings=settings,
        partitions=counted.partitions if counted.partitions is not None else total,
        under_replicated=counted.under_replicated if known else None,
        leaderless=counted.leaderless if known else None,
    )


def _configs(text: str | None) -> Iterator[tuple[str, str]]:
    """Keys with values, of which some have commas of their own: `cleanup.policy=compact,delete`."""
    for pair in _NEXT_KEY.split(text or ""):
        key, equals, value = pair.strip().partition("=")
        if equals:
            yield key, value.strip()


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 10 else None


def read_configs_output(path: Path, text: str, mistakes: Mistakes) -> Deployment:
    """The values in effect that `kafka-configs --describe` has printed of topics and brokers."""
    topics: dict[str, dict[str, Setting]] = {}
    brokers: dict[str, Setting] = {}
    unused: dict[str, Setting] = {}
    for kind, name, settings in _entities(path, text):
        used, ignored = sorted_out(settings, mistakes)
        unused |= {setting.key: setting for setting in ignored if setting.key not in unused}
        if kind == "topic":
            topics.setdefault(name, {}).update(used)
        elif kind in ("broker", "brokers"):
            for key, setting in used.items():
                known = brokers.setdefault(key, setting)
                if known.value != setting.value:
                    mistakes.add(
                        f"{setting.origin}: {key} is described as {known.value!r} and as "
                        f"{setting.value!r}; brokers must agree, or keep one of them"
                    )
    return Deployment(
        brokers=brokers,
        topics=tuple(Topic(name=name, settings=found) for name, found in topics.items()),
        has_all_topics=bool(topics),
        unused=tuple(unused.values()),
        sources=(path.name,),
    )


def _entities(path: Path, text: str) -> Iterator[tuple[str, str, list[Setting]]]:
    """Each described entity: its kind, its name, its settings."""
    entity: tuple[str, str, list[Setting]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        place = Place(str(path), number)
        if header := _CONFIGS_HEADER.match(line):
            if entity is not None:
                yield entity
            entity = (header[1].lower(), header[2].strip().strip("'\""), [])
            # Older tools go on in the same line.
            for key, value in _configs(line[header.end() :]):
                entity[2].append(Setting(key, value, path.name, place))
        elif entity is not None and (matched := _CONFIG_LINE.fullmatch(line)):
            said = _SAYS.get((matched[3] or "").partition(":")[0])
            is_default = said == _SAYS["DEFAULT_CONFIG"] and matched[1] in NOT_MODELLED
            if matched[2] != "null" and not is_default:
                source = f"{said}, {path.name}" if said else path.name
                entity[2].append(Setting(matched[1], matched[2], source, place))
    if entity is not None:
        yield entity


def read_features_output(path: Path, text: str, mistakes: Mistakes) -> Deployment:
    """The levels that `kafka-features describe` has printed, and by them the brokers' release.

    The highest metadata.version that the brokers support is that of the release they run.
    """
    brokers: dict[str, Setting] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not _FEATURE_LINE.match(line):
            continue
        fields = {key: value.strip() for key, value in _FIELD.findall(line.lstrip())}
        place = Place(str(path), number)
        name, level = fields.get("Feature"), fields.get("FinalizedVersionLevel")
        if name not in (METADATA, ELIGIBLE):
            continue
        if not level:
            mistakes.add(f"{path.name}:{number}: {name} without FinalizedVersionLevel; run it anew")
            continue
        brokers[name] = Setting(name, level, path.name, place)
        software = fields.get("SupportedMaxVersion", "").partition("-")[0]
        if name == METADATA and software:
            brokers[SOFTWARE] = Setting(SOFTWARE, software, path.name, place)
    return Deployment(brokers=brokers, sources=(path.name,))
