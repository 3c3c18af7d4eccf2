"""Effective configuration of broker, topic and producer, and the protocol version it implies.

Every value is reported with its source; a value that no file sets is Kafka's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.matrix.config_files import (
    BROKER,
    ELIGIBLE,
    METADATA,
    REPLICATION,
    ROLES,
    TOPIC_REPLICATION,
    ZOOKEEPER,
    BadConfig,
    Setting,
    read_settings,
)
from checker.kafka.matrix.grid import (
    ACKS,
    AXES,
    MIN_INSYNC,
    UNCLEAN,
    VERSION,
    Axis,
    Value,
)
from checker.problem.wording import counted
from model.message.releases import (
    ELIGIBLE_LEADER_REPLICAS_FIRST,
    KRAFT_FIRST,
    NEWEST_RELEASE,
    RELEASES,
    ZOOKEEPER_LAST,
    Release,
    ReleaseNumber,
    UnknownRelease,
    release_followed,
)

DEFAULT = "default"
"""The source of what nobody says."""
NEWEST = "not said; the newest modelled"
"""The source of a release that nobody names."""
REPLICAS_EXPLORED_MAX = 3
"""Of more replicas no more are explored unless `--replicas` says so."""
REPLICAS = "--replicas"
"""Where a number of replicas is from that no file says."""

_KAFKA = "kafka-version"
_CLEAN_SINCE = (0, 11)
"""Before this release Kafka's own default was to allow unclean elections (KIP-106)."""
_KRAFT_ALONE_SINCE = (4, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What an operator has set, as coordinates of the grid, with the settings that say so.

    `kafka` is the release in words, `number` its number; `is_release_said` is whether anybody
    named it. `notes` are what of this release or these settings is not as one would think.
    """

    settings: tuple[Setting, ...]
    kafka: str
    number: ReleaseNumber
    is_kraft: bool
    has_eligible_leader_replicas: bool
    is_release_said: bool
    notes: tuple[str, ...]
    version: str
    acks: str
    min_insync_replicas: int
    unclean: str
    replicas: int

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
    """What these files and options say together: options before topics before the server.

    Raises `BadConfig`.
    """
    found = read_settings(server)
    for topic in topics:
        found |= read_settings(topic)
    if acks is not None:
        found[ACKS] = Setting(ACKS, acks, "--acks")
    if kafka_version is not None:
        found[_KAFKA] = Setting(_KAFKA, kafka_version, "--kafka-version")
    protocol = _protocol(found)
    clean = protocol.number >= _CLEAN_SINCE
    waited = found.get(ACKS, Setting(ACKS, "all", DEFAULT))
    in_sync = found.get(MIN_INSYNC, Setting(MIN_INSYNC, "1", DEFAULT))
    unclean = found.get(UNCLEAN, Setting(UNCLEAN, "false" if clean else "true", DEFAULT))
    factor = _replication_factor(found, replicas)
    explored = replicas or min(_number(factor), REPLICAS_EXPLORED_MAX)
    if factor.source != REPLICAS and _number(in_sync) > _number(factor):
        raise in_sync.refused(f"that is more than {factor.key}, which is {factor.value}")
    if _number(in_sync) > explored:
        text = f"{counted(explored, 'replica')} {'is' if explored == 1 else 'are'} explored"
        raise in_sync.refused(f"{text}; --replicas takes more")
    allowed = _one_of(unclean, {"true": "true", "false": "false"})
    heeds = protocol.release.heeds_unclean_election
    return Config(
        settings=(*protocol.settings, factor, waited, in_sync, unclean),
        kafka=protocol.description,
        number=protocol.number,
        is_kraft=protocol.is_kraft,
        has_eligible_leader_replicas=protocol.release.with_eligible_leader_replicas,
        is_release_said=protocol.is_said,
        notes=tuple(_notes(protocol, asks_unclean=allowed == "true")),
        version=protocol.release.version,
        acks=_one_of(waited, {"all": "all", "-1": "all", "1": "1", "0": "0"}),
        min_insync_replicas=_number(in_sync),
        unclean=allowed if heeds else "false",
        replicas=explored,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Protocol:
    """The release that brokers follow, by which settings; `is_said`: somebody named it."""

    number: ReleaseNumber
    is_kraft: bool
    release: Release
    description: str
    is_said: bool
    settings: tuple[Setting, ...]


def _notes(protocol: _Protocol, *, asks_unclean: bool) -> Iterator[str]:
    number, release = protocol.number, protocol.release
    if asks_unclean and not release.heeds_unclean_election:
        yield (
            f"{UNCLEAN}=true does nothing in this release: its controller of KRaft takes it for "
            "false (KAFKA-12670, Kafka 3.9)."
        )
    is_kraft, minor = protocol.is_kraft, ".".join(map(str, number))
    of_this = (each.since for each in RELEASES if each.is_kraft == is_kraft)
    # A release can have two entries: with eligible leader replicas and without.
    for since in dict.fromkeys(n for n in of_this if n[:2] == number and len(n) > len(number)):
        patch = ".".join(map(str, since))
        yield (
            f"Taken for {minor}.0; from {patch} on the rules are others: "
            f"say --kafka-version {patch} if yours is that."
        )
    if release.unlike:
        yield f"Not modelled of this release: {release.unlike}"


def _protocol(found: Mapping[str, Setting]) -> _Protocol:
    """The version of the protocol. Raises `BadConfig` for a release that is not modelled.

    Where nobody says which release it is, it is the newest: KRaft's, unless the file names
    ZooKeeper and no roles.
    """
    roles, zookeeper = found.get(ROLES), found.get(ZOOKEEPER)
    by_kraft = bool(roles and roles.value) or METADATA in found
    order = (_KAFKA, METADATA, BROKER) if by_kraft else (_KAFKA, BROKER)
    named = next((found[key] for key in order if key in found), None)
    release = _release(named) if named else None
    if named is None or release is None:
        is_kraft = by_kraft or zookeeper is None
    else:
        is_kraft = by_kraft or release >= _KRAFT_ALONE_SINCE
        if is_kraft and release < KRAFT_FIRST:
            raise named.refused(f"with {ROLES} set, KRaft, it must be 2.8 or later")
    number = release or (NEWEST_RELEASE if is_kraft else ZOOKEEPER_LAST)
    taken = named or Setting(_KAFKA, ".".join(map(str, number)), NEWEST)
    eligible = found.get(ELIGIBLE, Setting(ELIGIBLE, "0", DEFAULT))
    has_eligible = _one_of(eligible, {"0": "", "1": "1"}) == "1"
    try:
        followed = release_followed(
            number, is_kraft=is_kraft, eligible_leader_replicas=has_eligible
        )
    except UnknownRelease as problem:
        raise BadConfig(f"{taken.source}: {problem}") from None
    manner = roles if by_kraft else zookeeper
    elr = f", with{'' if has_eligible else 'out'} eligible leader replicas"
    text = f"Kafka {'.'.join(map(str, number))} with {'KRaft' if is_kraft else 'ZooKeeper'}"
    return _Protocol(
        number=number,
        is_kraft=is_kraft,
        release=followed,
        description=text + (elr if is_kraft and number >= ELIGIBLE_LEADER_REPLICAS_FIRST else ""),
        is_said=named is not None,
        settings=tuple(s for s in (manner, taken, found.get(ELIGIBLE)) if s is not None),
    )


def _release(setting: Setting) -> ReleaseNumber:
    """`3.7-IV4` is (3, 7), `0.10.2` is (0, 10, 2)."""
    matched = re.fullmatch(r"(\d{1,3}(?:\.\d{1,3}){1,3})(?:-IV\d{1,3})?", setting.value)
    if matched is None:
        raise setting.refused("write it as 2.8 or 3.7-IV4")
    return tuple(map(int, matched[1].split(".")))


def _replication_factor(found: Mapping[str, Setting], replicas: int | None) -> Setting:
    """Of the topic, or else of the broker; where no file says it, as many as are explored.

    Kafka's default of 1 is that of topics nobody creates; a topic that somebody cares for has more.
    """
    for key in (TOPIC_REPLICATION, REPLICATION):
        if key in found:
            return found[key]
    if replicas is not None:
        return Setting(REPLICATION, str(replicas), REPLICAS)
    return Setting(REPLICATION, str(REPLICAS_EXPLORED_MAX), "not said; taken as that")


def _number(setting: Setting) -> int:
    """As Java's Integer.parseInt reads it, which takes 03 and +3."""
    if not re.fullmatch(r"\+?0*[1-9]\d{0,4}", setting.value):
        raise setting.refused("it must be a number, 1 or more")
    return int(setting.value)


def _one_of(setting: Setting, allowed: Mapping[str, str]) -> str:
    text = setting.value.lower()
    if text not in allowed:
        raise setting.refused(f"it must be one of {', '.join(allowed)}")
    return allowed[text]


def _axis(name: str) -> Axis:
    return next(axis for axis in AXES if axis.name == name)
