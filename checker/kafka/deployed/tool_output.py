"""Output of Kafka's tools: kafka-topics, kafka-configs and kafka-features, each with `--describe`.

Formats are those of TopicCommand, ConfigCommand and FeatureCommand from 0.10 to 4.4; older tools
write no space after a colon, and all settings in one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.deployment import (
    Partition,
    Place,
    Setting,
    Topic,
    whole_number,
)
from waterline.checker.kafka.deployed.keys import (
    ELIGIBLE,
    METADATA,
    NOT_MODELLED,
    SOFTWARE,
    SOURCES,
    TOPIC_REPLICATION,
)
from waterline.checker.kafka.deployed.properties_file import sorted_out
from waterline.checker.kafka.deployed.release_text import metadata_version
from waterline.checker.kafka.deployed.text_file import File

_NAME = r"(?:(?:Adding|Removing) )?[A-Z]\w*"
_FIELD = re.compile(rf"(?:^|\s)({_NAME}):[ ]?(.*?)(?=\s+{_NAME}:|$)")
"""Fields have tabs between them, or spaces, where they were copied from a screen."""
_NEXT_KEY = re.compile(r",(?=[A-Za-z][\w.-]*=)")
_TOPIC_LINE = re.compile(r"\s*Topic:")
FEATURE_LINE = re.compile(r"\s*Feature:\s")
QUORUM_LINE = re.compile(r"(?:LeaderEpoch|CurrentVoters):\s|NodeId\s+(?:Directory\w*\s+)?LogEndOff")
_ENTITY = r"(topics?|brokers?|client-id|user|user-principal|ip|client-metrics|group)"
CONFIGS_HEADER = re.compile(
    rf"\s*(?:(?:All|Dynamic|Default|Quota)? ?configs for {_ENTITY}(?:-logger)?[ :]?(.*?) are:?)",
    re.IGNORECASE,
)
_CONFIG_LINE = re.compile(r"\s+([\w.-]+)=(.*?)(?: sensitive=(?:true|false) synonyms=\{(.*)\})?")
_SYNONYMS = re.compile(r"\ssensitive=(?:true|false) synonyms=\{")


@dataclass(slots=True)
class _Counted:
    """Totals over the lines of a topic."""

    settings: dict[str, Setting] = field(default_factory=dict)
    partitions: int | None = None
    now: list[Partition] = field(default_factory=list)


def is_topics_output(file: File) -> bool:
    """True if it is what `kafka-topics --describe` prints."""
    return any(
        _TOPIC_LINE.match(line) and ("PartitionCount:" in line or "Partition:" in line)
        for line in file.beginning()
    )


def is_configs_without_header(file: File) -> bool:
    """True if it is of `kafka-configs --describe`, without the line that says of what."""
    return any(_SYNONYMS.search(line) for line in file.beginning())


def read_topics_output(file: File, into: Collection) -> None:
    """The topics that `kafka-topics --describe` has printed.

    With options such as --under-replicated-partitions it prints partitions alone: then neither are
    these all topics, nor are their settings there. `Configs:` are all values that are not Kafka's
    default: the topic's own, and those of its brokers. The summary line has the replicas of
    partition 0 (TopicCommand), so those of the partitions are counted.
    """
    topics: dict[str, _Counted] = {}
    for number, line in enumerate(file.lines(), start=1):
        if not _TOPIC_LINE.match(line):
            continue
        fields = {key: value.strip() for key, value in _FIELD.findall(line.strip())}
        name, place = fields.get("Topic", ""), file.place(number)
        if not name:
            into.mistakes.add(
                f"{file.name}:{number}: a topic without a name; describe it once more"
            )
            continue
        topic = topics.setdefault(name, _Counted())
        if "Partition" in fields:
            topic.now.append(_partition(fields, place))
            if into.eligible is None:
                into.eligible = _eligible(file, fields, number)
            continue
        into.see("topic", name, f"{file.name}:{number}")
        topic.partitions = whole_number(fields.get("PartitionCount"))
        given = [
            Setting(key, value, file.name, place) for key, value in _configs(fields.get("Configs"))
        ]
        if factor := fields.get("ReplicationFactor"):
            given.append(Setting(TOPIC_REPLICATION, factor, file.name, place))
        topic.settings |= sorted_out(given, into)
    if any(topic.partitions is not None for topic in topics.values()):
        into.has_all_topics = True
    else:
        into.note(f"{file.name} lists partitions alone: other topics, and settings, are not there.")
    into.topics += [(_topic(file, name, counted), None) for name, counted in topics.items()]


def _eligible(file: File, fields: Mapping[str, str], line: int) -> tuple[Setting, str] | None:
    """Return the setting "ELR is on" and its evidence, None if a line does not prove it.

    Without ELR a controller keeps both columns empty (PartitionChangeBuilder).
    """
    for name in ("Elr", "LastKnownElr"):
        if _parse_list(fields.get(name)):
            setting = Setting(ELIGIBLE, "1", file.name, file.place(line))
            which = f"partition {fields['Partition']} of {fields['Topic']}"
            return setting, f"ELR is on: {which} has {name} {fields[name]} ({setting.origin})."
    return None


def _brokers(fields: Mapping[str, str], column: str) -> tuple[int, ...]:
    numbers = map(whole_number, _parse_list(fields.get(column)))
    return tuple(number for number in numbers if number is not None)


def _partition(fields: Mapping[str, str], place: Place) -> Partition:
    # Replicas that a reassignment adds are not expected to be in sync yet; observers, as Confluent
    # Server has them, never are.
    in_sync, added = _brokers(fields, "Isr"), _brokers(fields, "Adding Replicas")
    observers = [broker for broker in _brokers(fields, "Observers") if broker not in in_sync]
    others = {*added, *observers}
    return Partition(
        number=whole_number(fields["Partition"]) or 0,
        leader=whole_number(fields.get("Leader")),
        replicas=tuple(b for b in _brokers(fields, "Replicas") if b not in others),
        isr=in_sync,
        elr=tuple(broker for broker in _brokers(fields, "Elr") if broker not in observers),
        adding=added,
        place=place,
    )


def _parse_list(text: str | None) -> list[str]:
    """`1,2,3`; none of `N/A`, which the tool prints for what a broker does not say."""
    parts = (part.strip() for part in (text or "").split(","))
    return [part for part in parts if part and part != "N/A"]


def _topic(file: File, name: str, counted: _Counted) -> Topic:
    """The topic, with the replicas of the partition that has the fewest."""
    settings = dict(counted.settings)
    said = settings.get(TOPIC_REPLICATION)
    if counted.now:
        least = min(counted.now, key=lambda each: len(each.replicas))
        fewest = len(least.replicas)
        if said is None or (whole_number(said.value) or 0) > fewest:
            settings[TOPIC_REPLICATION] = Setting(
                TOPIC_REPLICATION, str(fewest), file.name, least.place
            )
    return Topic(name=name, settings=settings, now=tuple(counted.now))


def _configs(text: str | None) -> Iterator[tuple[str, str]]:
    """Yield keys with values; a value may contain commas: `cleanup.policy=compact,delete`."""
    for pair in _NEXT_KEY.split(text or ""):
        key, equals, value = pair.strip().partition("=")
        if equals:
            yield key, value.strip()


def read_configs_output(file: File, into: Collection) -> None:
    """The values in effect that `kafka-configs --describe` has printed of topics and brokers."""
    topics: dict[str, dict[str, Setting]] = {}
    for kind, name, settings in _entities(file):
        if kind.startswith("topic"):
            topics.setdefault(name, {}).update(sorted_out(settings, into))
        elif kind.startswith("broker"):
            into.add_broker(sorted_out(settings, into).values())
    into.topics += [(Topic(name=name, settings=found), None) for name, found in topics.items()]
    into.has_all_topics |= bool(topics)


def _entities(file: File) -> Iterator[tuple[str, str, list[Setting]]]:
    """Each described entity: its kind, its name, its settings."""
    entity: tuple[str, str, list[Setting]] | None = None
    for number, line in enumerate(file.lines(), start=1):
        place = file.place(number)
        if header := CONFIGS_HEADER.match(line):
            if entity is not None:
                yield entity
            entity = (header[1].lower(), header[2].strip().strip("'\""), [])
            # Older tools go on in the same line.
            for key, value in _configs(line[header.end() :]):
                entity[2].append(Setting(key, value, file.name, place))
        elif entity is not None and (matched := _CONFIG_LINE.fullmatch(line.rstrip())):
            said = SOURCES.get((matched[3] or "").partition(":")[0])
            is_default = said == SOURCES["DEFAULT_CONFIG"] and matched[1] in NOT_MODELLED
            if matched[2] != "null" and not is_default:
                source = f"{said}, {file.name}" if said else file.name
                entity[2].append(Setting(matched[1], matched[2], source, place))
    if entity is not None:
        yield entity


def read_features_output(file: File, into: Collection) -> None:
    """The levels that `kafka-features describe` has printed, and by them the brokers' release.

    The highest metadata.version that the brokers support is that of the release they run. Confluent
    Platform goes by its own confluent.metadata.version, whose levels are called as its releases.
    """
    found: dict[str, Setting] = {}
    for number, line in enumerate(file.lines(), start=1):
        if not FEATURE_LINE.match(line):
            continue
        fields = {key: value.strip() for key, value in _FIELD.findall(line.strip())}
        name = fields.get("Feature", "")
        is_confluents = name == f"confluent.{METADATA}"
        if name not in (METADATA, ELIGIBLE) and not is_confluents:
            continue
        level = fields.get("FinalizedVersionLevel") or fields.get("FinalizedMaxVersionLevel")
        if not level:
            into.mistakes.add(
                f"{file.name}:{number}: {name} without FinalizedVersionLevel; run it anew"
            )
            continue
        place = file.place(number)
        if name == ELIGIBLE:
            found[ELIGIBLE] = Setting(ELIGIBLE, level, file.name, place)
        elif is_confluents or (METADATA not in found and level != "0"):
            found[METADATA] = Setting(METADATA, _level(level), file.name, place)
            if runs := _level(fields.get("SupportedMaxVersion", "")).partition("-IV")[0]:
                found[SOFTWARE] = Setting(SOFTWARE, runs, file.name, place)
    into.add_broker(found.values())


def _level(text: str) -> str:
    """`3.3-IV3` for 7: before 3.3 the tool printed numbers."""
    number = whole_number(text)
    return (number is not None and metadata_version(number)) or text
