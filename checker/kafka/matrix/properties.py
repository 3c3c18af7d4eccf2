"""Effective configuration of broker, topic and producer, and the protocol version it implies.

Every value is reported with its source; a value that no file sets is Kafka's default. Topics that
come to the same are one class, which is explored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.deployed.deployment import Deployment, Topic
from checker.kafka.deployed.keys import (
    ACKS,
    MIN_INSYNC,
    REPLICATION,
    TOPIC_REPLICATION,
    UNCLEAN,
)
from checker.kafka.deployed.reading import read_deployment
from checker.kafka.deployed.setting import BadConfig, Mistakes, Setting, whole_number
from checker.kafka.matrix.grid import AXES, VERSION, Axis, Value
from checker.kafka.matrix.protocol_of import DEFAULT, Protocol, protocol_of, version_option
from checker.problem.wording import counted, listed
from model.message.releases import ReleaseNumber

REPLICAS_EXPLORED_MAX = 3
"""Of more replicas no more are explored unless `--replicas` says so."""
REPLICAS = "--replicas"
"""Where a number of replicas is from that no file says."""
NOT_SAID = "not said; taken as that"
"""The source of a number of replicas that is assumed."""
_CLEAN_SINCE = (0, 11)
"""Before this release Kafka's own default was to allow unclean elections (KIP-106)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What an operator has set, as coordinates of the grid, with the settings that say so.

    `topics` are those that it is about; none: every topic without settings of its own.
    `protocol` is the release, `is_release_said` whether anybody named it. `notes` are what of this
    release or these settings is not as one would think. `factor` is the replication factor, of
    which `replicas` are explored.
    """

    settings: tuple[Setting, ...]
    protocol: Protocol
    notes: tuple[str, ...]
    acks: str
    min_insync_replicas: int
    unclean: str
    replicas: int
    factor: int
    topics: tuple[str, ...] = ()

    @property
    def kafka(self) -> str:
        """The release in words."""
        return self.protocol.description

    @property
    def number(self) -> ReleaseNumber:
        """The release."""
        return self.protocol.number

    @property
    def is_kraft(self) -> bool:
        """Whether its controller is KRaft's."""
        return self.protocol.is_kraft

    @property
    def has_eligible_leader_replicas(self) -> bool:
        """Whether it has KIP-966's eligible leader replicas."""
        return self.protocol.release.with_eligible_leader_replicas

    @property
    def is_release_said(self) -> bool:
        """Whether anybody named the release."""
        return self.protocol.is_said

    @property
    def version(self) -> str:
        """The version of the protocol."""
        return self.protocol.release.version

    def setting(self, key: str) -> Setting | None:
        """The setting of this key that was used, if there is one."""
        return next((setting for setting in self.settings if setting.key == key), None)

    def axes(self, *, only: Sequence[str] = ()) -> tuple[Axis, ...]:
        """The axes of a grid with these settings alone, over these faults; none: over every one."""
        fixed = {
            VERSION: Value(self.version),
            ACKS: _axis(ACKS).value(self.acks),
            MIN_INSYNC: min_insync(self.min_insync_replicas),
            UNCLEAN: _axis(UNCLEAN).value(self.unclean),
        }
        return tuple(
            Axis(axis.name, (fixed[axis.name],), fixed[axis.name].name)
            if axis.name in fixed
            else axis.only(only or [value.name for value in axis.values])
            for axis in AXES
        )


def min_insync(number: int) -> Value:
    """Any value of min.insync.replicas, also one that the grid does not have."""
    return Value(str(number), {"min-insync-replicas": number})


def read_config(
    server: Path,
    topics: Iterable[Path] = (),
    *,
    acks: str | None = None,
    kafka_version: str | None = None,
    replicas: int | None = None,
) -> Config:
    """What these files and options say together, where it comes to one class of topics.

    Raises `BadConfig`.
    """
    mistakes = Mistakes()
    deployment = read_deployment([server, *topics], mistakes)
    found = configs_of(
        deployment, mistakes, acks=acks, kafka_version=kafka_version, replicas=replicas
    )
    if len(found) > 1:
        names = "; ".join(describe_topics(config.topics) for config in found)
        raise BadConfig(f"{server} has topics of {len(found)} kinds ({names}); keep one of them")
    return found[0]


def configs_of(
    deployment: Deployment,
    before: Mistakes | None = None,
    *,
    acks: str | None = None,
    kafka_version: str | None = None,
    replicas: int | None = None,
) -> list[Config]:
    """A configuration for each class of topics; most topics first.

    Options win over a topic's own settings, and those over the brokers'. Topics that nobody names
    are a class of their own, unless all are named. A topic that needs more replicas in sync than it
    has is in none (`unwritable`). Raises `BadConfig` with all mistakes, those from `before` too.
    """
    mistakes = before or Mistakes()
    brokers = dict(deployment.brokers)
    if acks is not None:
        brokers[ACKS] = Setting(ACKS, acks, "--acks")
    try:
        if kafka_version is not None:
            brokers |= version_option(kafka_version)
        protocol = protocol_of(brokers)
    except BadConfig as problem:
        mistakes.extend(problem)
        protocol = protocol_of({})
    classes: dict[tuple[object, ...], tuple[Config, list[str]]] = {}
    for name, settings in _kinds(deployment, brokers, mistakes):
        config = _config(settings, protocol, replicas, mistakes, is_topic=name is not None)
        if config is None:
            continue
        key = (config.factor, config.replicas, config.acks, config.min_insync_replicas)
        _, names = classes.setdefault((*key, config.unclean), (config, []))
        if name is not None:
            names.append(name)
    mistakes.require_none()
    if not classes:
        raise BadConfig(
            "no topic can be written with acks=all: each needs more replicas in sync than it has"
        )
    found = [_with_topics(config, names) for config, names in classes.values()]
    return sorted(found, key=lambda config: (not config.topics, -len(config.topics)))


def _with_topics(config: Config, names: Sequence[str]) -> Config:
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    return Config(**{**fields, "topics": tuple(names)})


def _kinds(
    deployment: Deployment, brokers: Mapping[str, Setting], mistakes: Mistakes
) -> Iterator[tuple[str | None, dict[str, Setting]]]:
    """The settings in effect of each topic, and of those that nobody names."""
    _require_enough_brokers(deployment, mistakes)
    if not deployment.topics or not deployment.has_all_topics:
        yield None, dict(brokers)
    for topic in deployment.topics:
        yield topic.name, {**brokers, **topic.settings}


def _require_enough_brokers(deployment: Deployment, mistakes: Mistakes) -> None:
    count = deployment.broker_count
    limit = whole_number(count.value) if count is not None else None
    if count is None or limit is None:
        return
    factors = [deployment.brokers.get(REPLICATION)]
    factors += [topic.settings.get(TOPIC_REPLICATION) for topic in deployment.topics]
    for factor in filter(None, factors):
        if (whole_number(factor.value) or 0) > limit:
            brokers = counted(limit, "broker")
            verb = "is" if limit == 1 else "are"
            mistakes.add(factor.mistake(f"there {verb} {brokers} ({count.origin})"))


def _config(
    found: Mapping[str, Setting],
    protocol: Protocol,
    replicas: int | None,
    mistakes: Mistakes,
    *,
    is_topic: bool,
) -> Config | None:
    """The configuration; None where a mistake was noted, or the topic takes no acks=all."""
    clean = protocol.software >= _CLEAN_SINCE
    waited = found.get(ACKS, Setting(ACKS, "all", DEFAULT))
    in_sync = found.get(MIN_INSYNC, Setting(MIN_INSYNC, "1", DEFAULT))
    unclean = found.get(UNCLEAN, Setting(UNCLEAN, "false" if clean else "true", DEFAULT))
    factor = _replication_factor(found, replicas)
    numbers = [_number(setting, mistakes) for setting in (factor, in_sync)]
    allowed = _one_of(unclean, {"true": "true", "false": "false"}, mistakes)
    acks = _one_of(waited, {"all": "all", "-1": "all", "1": "1", "0": "0"}, mistakes)
    copies, needed = numbers
    if copies is None or needed is None or allowed is None or acks is None:
        return None
    explored = replicas or min(copies, REPLICAS_EXPLORED_MAX)
    if factor.source != REPLICAS and needed > copies:
        if not is_topic:
            text = f"that is more than {factor.key}, which is {factor.value}"
            mistakes.add(in_sync.mistake(text))
        return None
    if needed > explored:
        text = f"{counted(explored, 'replica')} {'is' if explored == 1 else 'are'} explored"
        mistakes.add(in_sync.mistake(f"{text}; --replicas takes more"))
        return None
    heeds = protocol.release.heeds_unclean_election
    return Config(
        settings=(*protocol.settings, factor, waited, in_sync, unclean),
        protocol=protocol,
        notes=(*_unheeded(protocol, allowed), *protocol.notes, *_fewer(copies, explored)),
        acks=acks,
        min_insync_replicas=needed,
        unclean=allowed if heeds else "false",
        replicas=explored,
        factor=copies,
    )


def unwritable(deployment: Deployment) -> list[str]:
    """Topics that need more replicas in sync than they have: acks=all is refused, always."""
    found = []
    for topic in deployment.topics:
        settings = {**deployment.brokers, **topic.settings}
        in_sync, factor = settings.get(MIN_INSYNC), settings.get(TOPIC_REPLICATION)
        values = [whole_number(s.value) for s in (in_sync, factor) if s is not None]
        needed, copies = values if len(values) == 2 else (None, None)
        if needed is not None and copies is not None and needed > copies:
            found.append(topic.name)
    return found


def one_replica(deployment: Deployment) -> list[Topic]:
    """Topics whose records are in one log alone."""
    factors = [(topic, topic.settings.get(TOPIC_REPLICATION)) for topic in deployment.topics]
    return [topic for topic, factor in factors if factor is not None and factor.value == "1"]


def describe_topics(topics: Sequence[str], most: int = 3) -> str:
    """`orders, payments and 396 more`; of none: `topics without settings of their own`"""
    if not topics:
        return "topics without settings of their own"
    return listed(topics, most)


def _unheeded(protocol: Protocol, unclean: str) -> Iterator[str]:
    if unclean == "true" and not protocol.release.heeds_unclean_election:
        yield (
            f"{UNCLEAN}=true does nothing in this release: its controller of KRaft takes it for "
            "false (KAFKA-12670, Kafka 3.9)."
        )


def _fewer(copies: int, explored: int) -> Iterator[str]:
    if explored < copies and explored == REPLICAS_EXPLORED_MAX:
        yield f"Of {copies} replicas {explored} were explored (--replicas {copies} takes longer)."


def _replication_factor(found: Mapping[str, Setting], replicas: int | None) -> Setting:
    """Of the topic, or else of the broker; where no file says it, as many as are explored.

    Kafka's default of 1 is that of topics nobody creates; a topic that somebody cares for has more.
    """
    for key in (TOPIC_REPLICATION, REPLICATION):
        if key in found:
            return found[key]
    if replicas is not None:
        return Setting(REPLICATION, str(replicas), REPLICAS)
    return Setting(REPLICATION, str(REPLICAS_EXPLORED_MAX), NOT_SAID)


def _number(setting: Setting, mistakes: Mistakes) -> int | None:
    """As Java's Integer.parseInt reads it, which takes 03 and +3."""
    number = whole_number(setting.value)
    if not number:
        mistakes.add(setting.mistake("it must be a number, 1 or more"))
    return number or None


def _one_of(setting: Setting, allowed: Mapping[str, str], mistakes: Mistakes) -> str | None:
    text = setting.value.lower()
    if text not in allowed:
        mistakes.add(setting.mistake(f"it must be one of {', '.join(allowed)}"))
        return None
    return allowed[text]


def _axis(name: str) -> Axis:
    return next(axis for axis in AXES if axis.name == name)
