"""Kafka releases for replays, and what each needs to run here.

Brokers with ZooKeeper speak their own protocol among each other up to 2.6. Later ones are
configured to speak that of 2.6 (inter.broker.protocol.version): from 2.7 on a leader asks the
controller to change the ISR, and the harness takes no requests as ZooKeeper's controller. The code
that runs is still that of the release. With KRaft, from 3.3 on, the harness takes them, and brokers
speak their own protocol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.model.message.releases import (
    ELIGIBLE_LEADER_REPLICAS_USUAL,
    KRAFT_FIRST,
    KRAFT_READY,
    Release,
    ReleaseNumber,
    UnknownRelease,
    release_followed,
)
from waterline.model.message.versions import spell

OLDEST = (0, 10, 2)
"""The oldest release that the harness steers: it relies on what came with 0.10.2's protocol."""
ZOOKEEPER_END = (4, 0)
"""The first release without ZooKeeper."""
ZOOKEEPER, KRAFT, ELR = "zookeeper", "kraft", "elr"
"""Manners to run a release; the last is KRaft with eligible leader replicas (KIP-966)."""
KRAFT_OLDEST = KRAFT_READY
"""The oldest release that the harness steers with KRaft."""
SPOKEN_MAX = (2, 6)
"""Newest inter-broker protocol whose leaders write the ISR to ZooKeeper themselves."""
_SPOKEN_BY_NEWER = (2, 6, 1)
"""The release whose rules a newer one follows that speaks this: what 2.6.1 repaired, it has."""

_OF_THE_CODE = (((3, 7), "hw-needs-min-isr"), ((3, 9, 1), "append-checks-epoch"))
"""Rules that brokers follow from a release on, whatever they speak (KAFKA-15583, KAFKA-18723)."""

_GROUP = "org.apache.kafka"
_FOR_JAVA_11 = ("javax.xml.bind:jaxb-api:2.3.1", "javax.activation:javax.activation-api:1.2.0")
"""Libraries that Java 11 dropped and old brokers still need."""
_LOGGING = "org.slf4j:slf4j-reload4j:1.7.36"
"""Backend of log lines; releases from 1.0 on leave the choice to the operator."""
_LOGGING_4 = "org.slf4j:slf4j-simple:1.7.36"
"""Backend since 4.0, whose own log4j does not bind to it by itself."""
_ZOOKEEPER = "org.apache.zookeeper:zookeeper:3.5.9"
"""ZooKeeper for releases whose own client fails on Java 14 and later (ZOOKEEPER-3779)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRelease:
    """A release and how it is run: `manner` is one of the three words above.

    `spoken` is what brokers speak to each other, None for the release's own. `rules` is the model's
    version that describes it, as `model.message.versions.version_of` reads it. `artifacts` are
    Maven coordinates, first on the class path first.
    """

    number: ReleaseNumber
    manner: str
    spoken: str | None
    rules: str
    artifacts: tuple[str, ...]
    product: str = "Kafka"

    @property
    def is_kraft(self) -> bool:
        """True if brokers have KRaft."""
        return self.manner != ZOOKEEPER

    @property
    def has_eligible_leader_replicas(self) -> bool:
        """True if eligible.leader.replicas.version is 1."""
        return self.manner == ELR

    @property
    def version(self) -> str:
        """Version as released: 0.10.2.2."""
        return ".".join(map(str, self.number))

    @property
    def name(self) -> str:
        """Name as in `--kafka`, with the manner unless that is ZooKeeper: 3.9.1, 4.2.0:elr."""
        return self.version if self.manner == ZOOKEEPER else f"{self.version}:{self.manner}"

    @property
    def title(self) -> str:
        """Name with the protocol, if it is another, and the manner, if there is a choice."""
        text = f"Kafka {self.version}"
        if self.spoken:
            return f"{text}, speaking {self.spoken}"
        if self.number >= ZOOKEEPER_END:
            return f"{text}, {'with' if self.has_eligible_leader_replicas else 'without'} ELR"
        return f"{text}, with KRaft" if self.is_kraft else text

    def at_least(self, *number: int) -> bool:
        """True if the release is this one or later."""
        return self.number >= number


def kafka_release(name: str) -> KafkaRelease:
    """The release of this name, with its manner as 3.9.1:kraft, 4.2.0:elr or 4.2.0:kraft.

    Without a manner it is with ZooKeeper if it has that; else as a new cluster of it is, with
    eligible leader replicas from 4.1 on. Raises `CannotConfirm`; that the release exists only its
    jars can show.
    """
    matched = re.fullmatch(r"(\d{1,3}(?:\.\d{1,3}){2,3})(?::(\w+))?", name)
    if matched is None or matched[2] not in {None, ZOOKEEPER, KRAFT, ELR}:
        raise CannotConfirm(
            f"--kafka is {name!r}; it must be a release as 0.10.2.2 or 4.2.0, or one with its "
            f"manner as 3.9.1:{KRAFT} or 4.2.0:{ELR}"
        )
    number = tuple(map(int, matched[1].split(".")))
    manner = matched[2] or _usual_manner(number)
    if number < OLDEST:
        raise CannotConfirm(f"--kafka is {name}; the oldest that can be steered is 0.10.2.0")
    if manner != ZOOKEEPER and number < KRAFT_OLDEST:
        raise CannotConfirm(f"--kafka is {name}; the oldest steered with KRaft is 3.3.0:{KRAFT}")
    speaks_older = manner == ZOOKEEPER and SPOKEN_MAX < number[:2] < ZOOKEEPER_END
    try:
        followed = release_followed(
            _SPOKEN_BY_NEWER if speaks_older else number,
            is_kraft=manner != ZOOKEEPER,
            eligible_leader_replicas=manner == ELR,
        )
    except UnknownRelease as problem:
        raise CannotConfirm(f"--kafka is {name}: {problem}") from None
    return KafkaRelease(
        number=number,
        manner=manner,
        spoken=".".join(map(str, SPOKEN_MAX)) if speaks_older else None,
        rules=_rules(followed, number),
        artifacts=artifacts_of(matched[1], number),
    )


def _usual_manner(number: ReleaseNumber) -> str:
    if number < ZOOKEEPER_END:
        return ZOOKEEPER
    return ELR if number >= ELIGIBLE_LEADER_REPLICAS_USUAL else KRAFT


def _rules(followed: Release, number: ReleaseNumber) -> str:
    """Return the rules of the protocol, and of the code whatever it speaks."""
    if followed.is_kraft:
        return followed.version
    added = (name for since, name in _OF_THE_CODE if number >= since)
    return spell(followed.base, (*followed.added, *added), followed.removed)


def artifacts_of(name: str, number: ReleaseNumber) -> tuple[str, ...]:
    """Maven coordinates of a release, and of what it does not depend on and needs here."""
    scala = "2.11" if number < (1, 0) else "2.12" if number < KRAFT_FIRST else "2.13"
    kafka = f"{_GROUP}:kafka_{scala}:{name}"
    if number < (1, 0):
        return (kafka, *_FOR_JAVA_11)
    if number >= ZOOKEEPER_END:
        return (kafka, _LOGGING_4)
    if (2, 0) <= number < (2, 4):
        return (_ZOOKEEPER, kafka, _LOGGING)
    return (kafka, _LOGGING)
