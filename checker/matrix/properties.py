"""Kafka's .properties files: what a broker, a topic and a producer are set to.

Only the keys that matter to replication are looked at. Every value is told with where it is from;
where nobody says, it is Kafka's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import javaproperties

from checker.matrix.grid import (
    ACKS,
    AXES,
    MIN_INSYNC,
    RELEASES,
    UNCLEAN,
    VERSION,
    Axis,
    Value,
)
from model.versions import VERSIONS

FILE_BYTES_MAX = 1 << 20
DEFAULT = "default"
"""The source of what nobody says."""
REPLICAS_EXPLORED_MAX = 3
"""Of more replicas no more are explored unless `--replicas` says so."""

_KAFKA = "kafka-version"
_BROKER = "inter.broker.protocol.version"
_METADATA = "metadata.version"
_ROLES = "process.roles"
_ELIGIBLE = "eligible.leader.replicas.version"
_TOPIC_REPLICATION = "replication.factor"
_REPLICATION = "default.replication.factor"
_KEYS = (
    _ROLES,
    _METADATA,
    _BROKER,
    _ELIGIBLE,
    _REPLICATION,
    _TOPIC_REPLICATION,
    ACKS,
    MIN_INSYNC,
    UNCLEAN,
)
_CLEAN_SINCE = (0, 11)
"""Before this release Kafka's own default was to allow unclean elections (KIP-106)."""
_KRAFT_SINCE = (2, 8)
_KRAFT_ALONE_SINCE = (4, 0)
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")


class BadConfig(ValueError):
    """A file or a value in it cannot be used; the message names both and says what is allowed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its value, and who says so: a file, an option, or nobody."""

    key: str
    value: str
    source: str

    def refused(self, remedy: str) -> BadConfig:
        """That the value means nothing."""
        return BadConfig(f"{self.source}: {self.key} is {self.value!r}; {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What an operator has set, as coordinates of the grid, with the settings that say so."""

    settings: tuple[Setting, ...]
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


def read_properties(path: Path) -> dict[str, Setting]:
    """The settings of a file that matter; of a key that occurs twice the last. Raises `BadConfig`.

    As Kafka reads it: the format of java.util.Properties, in ISO 8859-1, values trimmed.
    """
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as problem:
        raise BadConfig(f"{path} cannot be read: {problem.strerror}") from None
    if len(content) > FILE_BYTES_MAX:
        raise BadConfig(f"{path} is larger than {FILE_BYTES_MAX:,} bytes; it is no configuration")
    if _NOT_TEXT.search(content):
        raise BadConfig(f"{path} is not text; a .properties file is")
    try:
        found = javaproperties.loads(content.decode("iso-8859-1"))
    except ValueError as problem:
        raise BadConfig(f"{path} is no .properties file: {problem}") from None
    settings = {key: Setting(key, found[key].strip(), path.name) for key in _KEYS if key in found}
    if not settings:
        raise BadConfig(f"{path} names nothing that matters here: none of {', '.join(_KEYS)}")
    return settings


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
    found = read_properties(server)
    for topic in topics:
        found |= read_properties(topic)
    if acks is not None:
        found[ACKS] = Setting(ACKS, acks, "--acks")
    if kafka_version is not None:
        found[_KAFKA] = Setting(_KAFKA, kafka_version, "--kafka-version")
    protocol = _protocol(found)
    clean = protocol.release is None or protocol.release >= _CLEAN_SINCE
    waited = found.get(ACKS, Setting(ACKS, "all", DEFAULT))
    in_sync = found.get(MIN_INSYNC, Setting(MIN_INSYNC, "1", DEFAULT))
    unclean = found.get(UNCLEAN, Setting(UNCLEAN, "false" if clean else "true", DEFAULT))
    factor = _replication_factor(found)
    explored = replicas or min(_number(factor), REPLICAS_EXPLORED_MAX)
    if _number(in_sync) > _number(factor):
        raise in_sync.refused(f"that is more than {factor.key}, which is {factor.value}")
    if _number(in_sync) > explored:
        raise in_sync.refused(f"{explored} replicas are explored; --replicas takes more")
    return Config(
        settings=(*protocol.settings, factor, waited, in_sync, unclean),
        version=protocol.version,
        acks=_one_of(waited, {"all": "all", "-1": "all", "1": "1", "0": "0"}),
        min_insync_replicas=_number(in_sync),
        unclean=_one_of(unclean, {"true": "true", "false": "false"}),
        replicas=explored,
    )


@dataclass(frozen=True, slots=True)
class _Protocol:
    """Which version brokers follow, by which settings; `release` is None where nobody says."""

    version: str
    release: tuple[int, int] | None
    settings: tuple[Setting, ...]


def _protocol(found: Mapping[str, Setting]) -> _Protocol:
    """The version of the protocol. Raises `BadConfig` for a release that is not modelled."""
    roles = found.get(_ROLES)
    by_kraft = bool(roles and roles.value) or _METADATA in found
    order = (_KAFKA, _METADATA, _BROKER) if by_kraft else (_KAFKA, _BROKER)
    named = next((found[key] for key in order if key in found), None)
    release = _release(named) if named else None
    is_kraft = by_kraft or (release is not None and release >= _KRAFT_ALONE_SINCE)
    if named and release and is_kraft and release < _KRAFT_SINCE:
        raise named.refused(f"with {_ROLES} set, KRaft, it must be 2.8 or later")
    eligible = found.get(_ELIGIBLE, Setting(_ELIGIBLE, "0", DEFAULT))
    has_eligible = _one_of(eligible, {"0": "", "1": "1"}) == "1"
    fitting = [
        known
        for known in RELEASES
        if known.is_kraft == is_kraft
        and (release is None or known.since <= release)
        and (has_eligible or not known.with_eligible_leader_replicas)
    ]
    settings = [s for s in (roles, named, found.get(_ELIGIBLE)) if s is not None]
    if named is not None:
        version = fitting[-1].version
        if version not in VERSIONS:
            modelled = ", ".join(VERSIONS)
            raise named.refused(f"it follows {version}, which is not modelled, only {modelled}")
        return _Protocol(version, release, tuple(settings))
    modelled_ones = [known.version for known in fitting if known.version in VERSIONS]
    if not modelled_ones:
        modelled = ", ".join(VERSIONS)
        raise BadConfig(f"{_ROLES} is set, but no version with KRaft is modelled, only {modelled}")
    told = f"newest modelled, {modelled_ones[-1]}"
    return _Protocol(modelled_ones[-1], None, (Setting(_KAFKA, told, DEFAULT), *settings))


def _release(setting: Setting) -> tuple[int, int]:
    """`3.7-IV4` is (3, 7), `0.10.2` is (0, 10)."""
    matched = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d{1,3}){0,2}(-IV\d{1,3})?", setting.value)
    if matched is None:
        raise setting.refused("write it as 2.8 or 3.7-IV4")
    return int(matched[1]), int(matched[2])


def _replication_factor(found: Mapping[str, Setting]) -> Setting:
    """Of the topic, or else of the broker.

    Kafka's default of 1 is that of topics nobody creates; a topic that somebody cares for has more.
    """
    for key in (_TOPIC_REPLICATION, _REPLICATION):
        if key in found:
            return found[key]
    return Setting(_REPLICATION, str(REPLICAS_EXPLORED_MAX), "not said; taken as that")


def _number(setting: Setting) -> int:
    if not re.fullmatch(r"[1-9]\d{0,4}", setting.value):
        raise setting.refused("it must be a number, 1 or more")
    return int(setting.value)


def _one_of(setting: Setting, allowed: Mapping[str, str]) -> str:
    told = setting.value.lower()
    if told not in allowed:
        raise setting.refused(f"it must be one of {', '.join(allowed)}")
    return allowed[told]


def _axis(name: str) -> Axis:
    return next(axis for axis in AXES if axis.name == name)
