"""Rules that brokers follow: the release that their settings, or an option, name.

With ZooKeeper inter.broker.protocol.version decides, with KRaft metadata.version. The software's
release adds the patch, and replaces a missing setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from waterline.checker.kafka.deployed.deployment import BadConfig, Setting
from waterline.checker.kafka.deployed.keys import (
    BROKER,
    ELIGIBLE,
    METADATA,
    ROLES,
    SOFTWARE,
    ZOOKEEPER,
)
from waterline.checker.kafka.deployed.release_text import kafka_of_confluent, release_written
from waterline.model.message.releases import (
    ELIGIBLE_LEADER_REPLICAS_FIRST,
    ELIGIBLE_LEADER_REPLICAS_USUAL,
    KRAFT_FIRST,
    KRAFT_READY,
    NEWEST_RELEASE,
    RELEASES,
    ZOOKEEPER_LAST,
    Release,
    ReleaseNumber,
    UnknownRelease,
    release_followed,
)

DEFAULT = "default"
"""Source of a default."""
NEWEST = "not said; the newest modelled"
"""Source of the release if no setting names one."""
OF_A_NEW_CLUSTER = "default of a new cluster"
"""Source of eligible.leader.replicas.version if it is not set, from 4.1 on."""
VERSION_OPTION = "--kafka-version"
_KRAFT_ALONE_SINCE = (4, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The release that brokers follow, and its settings; `is_said`: a setting names it.

    `software` is the release that they run, which may be newer and supplies their defaults.
    `is_manner_said`: a setting or the release decides between ZooKeeper and KRaft.
    """

    number: ReleaseNumber
    software: ReleaseNumber
    is_kraft: bool
    release: Release
    is_said: bool
    is_manner_said: bool
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """`4.2`, `2.8.1`"""
        return ".".join(map(str, self.number))

    @property
    def _may_have_eligible(self) -> bool:
        return self.is_kraft and self.number >= ELIGIBLE_LEADER_REPLICAS_FIRST

    @property
    def description(self) -> str:
        """`Kafka 4.2 with KRaft, without eligible leader replicas`"""
        text = f"Kafka {self.name} with {'KRaft' if self.is_kraft else 'ZooKeeper'}"
        has = "with" if self.release.with_eligible_leader_replicas else "without"
        return text + (f", {has} eligible leader replicas" if self._may_have_eligible else "")

    @property
    def title(self) -> str:
        """`Kafka 4.2, KRaft, no ELR`"""
        text = f"Kafka {self.name}, {'KRaft' if self.is_kraft else 'ZooKeeper'}"
        elr = "ELR" if self.release.with_eligible_leader_replicas else "no ELR"
        return f"{text}, {elr}" if self._may_have_eligible else text

    @property
    def option(self) -> str:
        """`4.2:kraft`, as `check --kafka` takes it."""
        if self.release.with_eligible_leader_replicas:
            return f"{self.name}:elr"
        return f"{self.name}:{'kraft' if self.is_kraft else 'zookeeper'}"


def protocol_of(found: Mapping[str, Setting]) -> Protocol:
    """Return the protocol. Raises `BadConfig` for a release that is not modelled.

    The default is the newest release: KRaft's, unless the file names ZooKeeper and no roles.
    """
    roles, zookeeper = found.get(ROLES), found.get(ZOOKEEPER)
    by_kraft = bool(roles and roles.value) or METADATA in found
    named, notes = _release_setting(found, is_kraft=by_kraft or _is_kraft_alone(found))
    release = release_number(named) if named else None
    if named is None or release is None:
        is_kraft = by_kraft or zookeeper is None
    else:
        is_kraft = by_kraft or release >= _KRAFT_ALONE_SINCE
        if is_kraft and release < KRAFT_FIRST:
            raise named.refusal(f"with {ROLES} set, KRaft, it must be 2.8 or later")
    number = release or (NEWEST_RELEASE if is_kraft else ZOOKEEPER_LAST)
    taken = named or Setting(SOFTWARE, ".".join(map(str, number)), NEWEST)
    is_open = named is not None and not is_kraft and zookeeper is None and number >= KRAFT_READY
    if is_open:
        notes = (
            *notes,
            f"Nothing says whether {taken.value} runs with ZooKeeper or KRaft: ZooKeeper was "
            f"taken; --kafka-version {'.'.join(map(str, number))}:kraft says the other.",
        )
    eligible = _eligible(found, number, is_kraft=is_kraft)
    try:
        followed = release_followed(
            number, is_kraft=is_kraft, eligible_leader_replicas=eligible.value == "1"
        )
    except UnknownRelease as problem:
        inside = kafka_of_confluent(taken.value) if number > NEWEST_RELEASE else None
        remedy = f"; Confluent Platform {taken.value} has Kafka {inside}" if inside else ""
        raise BadConfig(f"{taken.origin}: {problem}{remedy}") from None
    manner = roles if by_kraft else zookeeper
    is_elr_said = ELIGIBLE in found or eligible.source == OF_A_NEW_CLUSTER
    return Protocol(
        number=number,
        software=release_number(found[SOFTWARE]) if SOFTWARE in found else number,
        is_kraft=is_kraft,
        release=followed,
        is_said=named is not None,
        is_manner_said=not is_open,
        settings=tuple(
            s for s in (manner, taken, eligible if is_elr_said else None) if s is not None
        ),
        notes=(*notes, *_notes(number, followed, eligible, is_kraft=is_kraft)),
    )


def _is_kraft_alone(found: Mapping[str, Setting]) -> bool:
    software = found.get(SOFTWARE)
    return software is not None and release_number(software) >= _KRAFT_ALONE_SINCE


def _release_setting(
    found: Mapping[str, Setting], *, is_kraft: bool
) -> tuple[Setting | None, tuple[str, ...]]:
    """The setting that says the release; with the software's patch, where that is of the same."""
    software = found.get(SOFTWARE)
    if software is not None and software.source == VERSION_OPTION:
        return software, ()
    order = (METADATA, BROKER) if is_kraft else (BROKER,)
    spoken = next((found[key] for key in order if key in found), None)
    if spoken is None or software is None:
        return spoken or software, ()
    number, runs = release_number(spoken), release_number(software)
    if runs[:2] == number[:2]:
        return software, ()
    return spoken, (
        f"Brokers run {software.value} ({software.origin}) and speak {spoken.value} "
        f"({spoken.origin}): the rules of what they speak were explored.",
    )


def _eligible(found: Mapping[str, Setting], number: ReleaseNumber, *, is_kraft: bool) -> Setting:
    """True if there are eligible leader replicas: a new cluster has them from 4.1 on (KIP-966)."""
    if said := found.get(ELIGIBLE):
        if said.value not in ("0", "1"):
            raise said.refusal("it must be one of 0, 1")
        return said
    if is_kraft and number >= ELIGIBLE_LEADER_REPLICAS_USUAL:
        return Setting(ELIGIBLE, "1", OF_A_NEW_CLUSTER)
    return Setting(ELIGIBLE, "0", DEFAULT)


def version_option(text: str) -> Mapping[str, Setting]:
    """Return the settings in `--kafka-version`: `4.2`, `3.9:kraft`, `4.2:elr`, MSK's `3.7.x.kraft`.

    Raises `BadConfig`.
    """
    matched = re.fullmatch(r"(.*?)(?:[.:](kraft|zookeeper|elr))?", text)
    if matched is None or release_written(matched[1]) is None:
        raise Setting(SOFTWARE, text, VERSION_OPTION).refusal(
            "write it as 2.8, or with its manner as 3.9:kraft, 3.9:zookeeper or 4.2:elr"
        )
    said = {SOFTWARE: Setting(SOFTWARE, matched[1], VERSION_OPTION)}
    if matched[2] == "zookeeper":
        said[ZOOKEEPER] = Setting(ZOOKEEPER, "zookeeper", VERSION_OPTION)
        said[ROLES] = Setting(ROLES, "", VERSION_OPTION)
    elif matched[2] is not None:
        said[ROLES] = Setting(ROLES, "broker", VERSION_OPTION)
        if release_number(said[SOFTWARE]) >= ELIGIBLE_LEADER_REPLICAS_FIRST:
            level = "1" if matched[2] == "elr" else "0"
            said[ELIGIBLE] = Setting(ELIGIBLE, level, VERSION_OPTION)
    return said


def release_number(setting: Setting) -> ReleaseNumber:
    """`3.7-IV4` is (3, 7), `0.10.2` is (0, 10, 2). Raises `BadConfig`."""
    written = release_written(setting.value)
    if written is None:
        raise setting.refusal("write it as 2.8 or 3.7-IV4")
    return tuple(map(int, written.split(".")))


def _notes(
    number: ReleaseNumber, release: Release, eligible: Setting, *, is_kraft: bool
) -> Iterator[str]:
    minor = ".".join(map(str, number))
    if eligible.source == OF_A_NEW_CLUSTER:
        yield (
            f"{ELIGIBLE} is not said, so it is taken as 1, as in a cluster that was created with "
            "4.1 or later. One that was upgraded has 0: `kafka-features describe` shows it, and "
            "its output can be another --config."
        )
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
