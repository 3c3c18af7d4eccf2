"""Effective configuration of broker, topic and producer, and the protocol version it implies.

Every value is reported with its source; a value that no file sets is Kafka's default. Topics with
the same configuration are one class, which is explored once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from waterline.checker.kafka.deployed.deployment import (
    BadConfig,
    Deployment,
    Mistakes,
    Setting,
    Topic,
    whole_number,
)
from waterline.checker.kafka.deployed.keys import (
    ACKS,
    MIN_INSYNC,
    REPLICATION,
    TOPIC_REPLICATION,
    UNCLEAN,
)
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.matrix.grid import (
    AXES,
    BY_FREQUENCY,
    FAULT,
    NO_FAULT,
    VERSION,
    Axis,
    Size,
    Value,
)
from waterline.checker.kafka.matrix.protocol_of import (
    DEFAULT,
    Protocol,
    protocol_of,
    version_option,
)
from waterline.checker.problem.wording import list_of, quantity
from waterline.model.core.errors import did_you_mean_or
from waterline.model.message.releases import ELIGIBLE_LEADER_REPLICAS_USUAL, ReleaseNumber

REPLICAS_EXPLORED_MAX = 3
"""Maximum number of replicas explored unless `--replicas` asks for more."""
REPLICAS_UNSAID = 3
"""Default number of replicas, if there are so many brokers. Kafka's own default of 1 applies to
auto-created topics; a topic of any importance has more."""
REPLICAS = "--replicas"
"""Source of a number of replicas that no file gives."""
NOT_SAID = "not said; taken as that"
"""The source of a number of replicas that is assumed."""
_CLEAN_SINCE = (0, 11)
"""Before this release Kafka's own default was to allow unclean elections (KIP-106)."""
_ALL_SINCE = (3, 0)
"""Before this release a producer that said nothing had acks=1 (KIP-679)."""
_ALL_UNSAID = "not said; 1 in producers before 3.0"
"""The source of acks=all with an older release, whose producers may be as old."""
NOT_SAID_ACKS = (DEFAULT, _ALL_UNSAID)
"""The sources of acks=all that is assumed."""
_NO_MORE_THAN_REPLICAS_SINCE = (3, 7)
"""First release that caps min.insync.replicas at the number of replicas (KAFKA-15583,
`Partition.effectiveMinIsr`); earlier ones always refuse acks=all then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of an operator as coordinates of the grid, with their sources.

    `topics` are those that it covers; if empty, every topic without settings of its own. `protocol`
    is the release, `is_release_said` is True if a setting names it. `notes` report surprises of
    this release or these settings. `yours` is the replication factor with the min.insync.replicas
    in effect, `explored` the size that stands for it.
    """

    settings: tuple[Setting, ...]
    protocol: Protocol
    notes: tuple[str, ...]
    acks: str
    unclean: str
    yours: Size
    explored: Size
    topics: tuple[str, ...] = ()

    @property
    def kafka(self) -> str:
        """The release in words."""
        return self.protocol.description

    @property
    def stand_in(self) -> str:
        """`3 replicas with min.insync.replicas=2, of your 5 and 3`; "" where yours is explored."""
        return self.explored.instead_of(self.yours)

    @property
    def explored_in_words(self) -> str:
        """`3 replicas`; of another size than yours min.insync.replicas as well."""
        in_sync = f", {MIN_INSYNC}={self.explored.min_insync}" if self.stand_in else ""
        return f"{quantity(self.explored.replicas, 'replica')}{in_sync}"

    @property
    def capped(self) -> str:
        """Remark that min.insync.replicas is not in effect as set; "" if it is."""
        setting, copies = self.setting(MIN_INSYNC), quantity(self.yours.replicas, "replica")
        if setting is None or int(setting.value) <= self.yours.replicas or self.acks != "all":
            return ""
        return (
            f"{MIN_INSYNC}={setting.value} ({setting.origin}) is more than the {copies}, so Kafka "
            f"takes {self.yours.min_insync}, as it does from 3.7 on."
        )

    @property
    def number(self) -> ReleaseNumber:
        """The release."""
        return self.protocol.number

    @property
    def is_kraft(self) -> bool:
        """True if its controller is KRaft's."""
        return self.protocol.is_kraft

    @property
    def has_eligible_leader_replicas(self) -> bool:
        """True if it has KIP-966's eligible leader replicas."""
        return self.protocol.release.with_eligible_leader_replicas

    @property
    def is_release_said(self) -> bool:
        """True if a setting or an option names the release."""
        return self.protocol.is_said

    @property
    def version(self) -> str:
        """The version of the protocol."""
        return self.protocol.release.version

    def setting(self, key: str) -> Setting | None:
        """The setting of this key that was used, if there is one."""
        return next((setting for setting in self.settings if setting.key == key), None)

    def axes(self, *, only: Sequence[str] = ()) -> tuple[Axis, ...]:
        """The axes of a grid with these settings alone, over these faults, the common ones first.

        None: over all that are faults.
        """
        fixed = {
            VERSION: Value(self.version),
            ACKS: _axis(ACKS).value(self.acks),
            MIN_INSYNC: min_insync(self.explored.min_insync),
            UNCLEAN: _axis(UNCLEAN).value(self.unclean),
        }
        chosen = _axis(FAULT).only(only or [v.name for v in BY_FREQUENCY if v.name != NO_FAULT])
        faults = tuple(sorted(chosen.values, key=BY_FREQUENCY.index))
        return tuple(
            Axis(axis.name, (fixed[axis.name],), fixed[axis.name].name)
            if axis.name in fixed
            else Axis(FAULT, faults, axis.default)
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
    """Return the configuration in these files and options, if all topics are of one class.

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
    acks_of: Mapping[str, str] | None = None,
    kafka_version: str | None = None,
    replicas: int | None = None,
) -> list[Config]:
    """Return a configuration for each class of topics; most topics first.

    Options override a topic's own settings, which override the brokers'; `acks_of` are those of
    the producers of some topics, by name; no more than `replicas` are explored. Unnamed topics are
    a class of their own, unless all topics are named. A topic that accepts no acks=all is in none
    (`unwritable`). Raises `BadConfig` with all mistakes, including those in `before`.
    """
    mistakes = before or Mistakes()
    brokers = dict(deployment.brokers)
    if acks is not None:
        brokers[ACKS] = Setting(ACKS, acks, "--acks")
    deployment = _with_acks(deployment, acks_of or {}, mistakes)
    try:
        if kafka_version is not None:
            brokers |= version_option(kafka_version)
        protocol = protocol_of(brokers)
    except BadConfig as problem:
        mistakes.extend(problem)
        protocol = protocol_of({})
    brokers |= _of_controllers(deployment, protocol)
    classes: dict[tuple[object, ...], tuple[Config, list[str]]] = {}
    for name, settings in _kinds(deployment, brokers, mistakes):
        factor = _replication_factor(settings, replicas, deployment.broker_count)
        config = _config(settings, protocol, factor, replicas, mistakes, is_topic=name is not None)
        if config is None:
            continue
        key = (config.yours, config.acks, config.unclean)
        _, names = classes.setdefault(key, (config, []))
        if name is not None:
            names.append(name)
    mistakes.require_none()
    if not classes:
        raise BadConfig(
            "no topic can be written with acks=all: each needs more replicas in sync than it has"
        )
    found = [replace(config, topics=tuple(names)) for config, names in classes.values()]
    return sorted(found, key=lambda config: (not config.topics, -len(config.topics)))


def _with_acks(
    deployment: Deployment, acks_of: Mapping[str, str], mistakes: Mistakes
) -> Deployment:
    """Return the deployment with these acks at its topics. One that no file names is added."""
    topics = {topic.name: topic for topic in deployment.topics}
    for name, acks in acks_of.items():
        if name not in topics and deployment.has_all_topics:
            remedy = did_you_mean_or(name, topics, "name one of its topics")
            mistakes.add(f"--acks {name}={acks}: the cluster has no topic {name}; {remedy}")
            continue
        topic = topics.get(name, Topic(name=name))
        setting = Setting(ACKS, acks, f"--acks {name}={acks}")
        topics[name] = replace(topic, settings={**topic.settings, ACKS: setting})
    return replace(deployment, topics=tuple(topics.values()))


def _of_controllers(deployment: Deployment, protocol: Protocol) -> Mapping[str, Setting]:
    """Return a controller's own static min.insync.replicas, if enabling ELR makes it the cluster's.

    (KIP-966, ConfigurationControlManager.maybeGenerateElrSafetyRecords; from 4.1 on.) It overrides
    the static one of brokers, and yields to a value set for all of them.
    """
    own, of_brokers = deployment.of_controllers, deployment.brokers.get(MIN_INSYNC)
    has_eligible = protocol.release.with_eligible_leader_replicas
    if own is None or not has_eligible or protocol.number < ELIGIBLE_LEADER_REPLICAS_USUAL:
        return {}
    is_dynamic = of_brokers is not None and of_brokers.source.startswith("set for")
    return {} if is_dynamic else {MIN_INSYNC: own}


def _kinds(
    deployment: Deployment, brokers: Mapping[str, Setting], mistakes: Mistakes
) -> Iterator[tuple[str | None, dict[str, Setting]]]:
    """Yield the settings in effect of each topic, and of the unnamed ones.

    Partitions of a topic with fewer replicas than others are a kind of their own.
    """
    _require_enough_brokers(deployment, mistakes)
    if not deployment.topics or not deployment.has_all_topics:
        yield None, dict(brokers)
    for topic in deployment.topics:
        settings = {**brokers, **topic.settings}
        sizes = Counter(len(each.replicas) for each in topic.now)
        if len(sizes) < 2:
            yield topic.name, settings
            continue
        for size, partitions in sorted(sizes.items()):
            number, replicas = quantity(partitions, "partition"), quantity(size, "replica")
            factor = settings[TOPIC_REPLICATION]
            if factor.value != str(size):
                factor = replace(factor, value=str(size), place=None)
            yield (
                f"{topic.name} ({number} with {replicas})",
                {**settings, TOPIC_REPLICATION: factor},
            )


def _require_enough_brokers(deployment: Deployment, mistakes: Mistakes) -> None:
    count = deployment.broker_count
    limit = whole_number(count.value) if count is not None else None
    if count is None or limit is None:
        return
    factors = [deployment.brokers.get(REPLICATION)]
    factors += [topic.settings.get(TOPIC_REPLICATION) for topic in deployment.topics]
    for factor in filter(None, factors):
        if (whole_number(factor.value) or 0) > limit:
            brokers = quantity(limit, "broker")
            verb = "is" if limit == 1 else "are"
            mistakes.add(factor.mistake(f"there {verb} {brokers} ({count.origin})"))


def _config(
    found: Mapping[str, Setting],
    protocol: Protocol,
    factor: Setting,
    most: int | None,
    mistakes: Mistakes,
    *,
    is_topic: bool,
) -> Config | None:
    """The configuration; None where a mistake was noted, or the topic takes no acks=all."""
    clean = protocol.software >= _CLEAN_SINCE
    unsaid = DEFAULT if protocol.software >= _ALL_SINCE else _ALL_UNSAID
    waited = found.get(ACKS, Setting(ACKS, "all", unsaid))
    in_sync = found.get(MIN_INSYNC, Setting(MIN_INSYNC, "1", DEFAULT))
    unclean = found.get(UNCLEAN, Setting(UNCLEAN, "false" if clean else "true", DEFAULT))
    numbers = [_number(setting, mistakes) for setting in (factor, in_sync)]
    allowed = _one_of(unclean, {"true": "true", "false": "false"}, mistakes)
    acks = _one_of(waited, {"all": "all", "-1": "all", "1": "1", "0": "0"}, mistakes)
    copies, needed = numbers
    if copies is None or needed is None or allowed is None or acks is None:
        return None
    if needed > copies and acks == "all" and not _takes_no_more(protocol):
        if not is_topic:
            text = f"that is more than {factor.key}, which is {factor.value} ({factor.origin})"
            mistakes.add(in_sync.mistake(text))
        return None
    yours = Size(copies, min(needed, copies))
    config = Config(
        settings=(*protocol.settings, factor, waited, in_sync, unclean),
        protocol=protocol,
        notes=(*_unheeded_settings(protocol, allowed), *protocol.notes),
        acks=acks,
        unclean=allowed if protocol.release.heeds_unclean_election else "false",
        yours=yours,
        explored=yours.representative(most or REPLICAS_EXPLORED_MAX),
    )
    return replace(config, notes=(*config.notes, *_about_size(config)))


def _takes_no_more(protocol: Protocol) -> bool:
    """True if min.insync.replicas is taken for no more than the replicas there are.

    That is of the software, not of what it speaks.
    """
    return protocol.software >= _NO_MORE_THAN_REPLICAS_SINCE


def more_than_replicas(deployment: Deployment) -> list[str]:
    """Topics whose min.insync.replicas is more than their replicas."""
    found = []
    for topic in deployment.topics:
        settings = {**deployment.brokers, **topic.settings}
        in_sync, factor = settings.get(MIN_INSYNC), settings.get(TOPIC_REPLICATION)
        values = [whole_number(s.value) for s in (in_sync, factor) if s is not None]
        needed, copies = values if len(values) == 2 else (None, None)
        if needed is not None and copies is not None and needed > copies:
            found.append(topic.name)
    return found


def unwritable(deployment: Deployment, protocol: Protocol) -> list[str]:
    """Topics that need more replicas in sync than they have, so that acks=all is refused."""
    return [] if _takes_no_more(protocol) else more_than_replicas(deployment)


def one_replica(deployment: Deployment) -> list[Topic]:
    """Topics whose records are in one log alone."""
    factors = [(topic, topic.settings.get(TOPIC_REPLICATION)) for topic in deployment.topics]
    return [topic for topic, factor in factors if factor is not None and factor.value == "1"]


def describe_topics(topics: Sequence[str], most: int = 3) -> str:
    """`orders, payments and 396 more`; of none: `topics without settings of their own`"""
    if not topics:
        return "topics without settings of their own"
    return list_of(topics, most)


def _unheeded_settings(protocol: Protocol, unclean: str) -> Iterator[str]:
    if unclean == "true" and not protocol.release.heeds_unclean_election:
        yield (
            f"{UNCLEAN}=true does nothing in this release: its controller of KRaft takes it for "
            "false (KAFKA-12670, Kafka 3.9)."
        )


def _about_size(config: Config) -> Iterator[str]:
    """Yield remarks on settings not in effect and on sizes not explored."""
    if capped := config.capped:
        yield capped
    if config.stand_in:
        copies = config.yours.replicas
        yield f"Explored as {config.stand_in} (--replicas {copies} takes longer)."


def _replication_factor(
    found: Mapping[str, Setting], replicas: int | None, brokers: Setting | None
) -> Setting:
    """Return the topic's replication factor, or the broker's, or else the usual, or all brokers."""
    for key in (TOPIC_REPLICATION, REPLICATION):
        if key in found:
            return found[key]
    if replicas is not None:
        return Setting(REPLICATION, str(replicas), REPLICAS)
    count = whole_number(brokers.value) if brokers is not None else None
    if brokers is not None and count is not None and 0 < count < REPLICAS_UNSAID:
        source = f"{quantity(count, 'broker')}, {brokers.source}"
        return Setting(REPLICATION, str(count), source, brokers.place)
    return Setting(REPLICATION, str(REPLICAS_UNSAID), NOT_SAID)


def _number(setting: Setting, mistakes: Mistakes) -> int | None:
    """Return the number as Java's Integer.parseInt reads it, which accepts 03 and +3."""
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
