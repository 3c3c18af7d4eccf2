"""Which Kafka releases can be replayed on, and what each needs to run here.

A release with ZooKeeper speaks, as brokers among each other, its own protocol up to 2.6. Later ones
are configured to speak that of 2.6 (inter.broker.protocol.version): from 2.7 on a leader changes
the ISR by asking the controller, and the harness, which stands in for the controller, takes no
requests. The code that runs is that of the release all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from checker.kafka.confirm.errors import CannotConfirm
from model.message.releases import (
    KRAFT_FIRST,
    KRAFT_READY,
    Release,
    ReleaseNumber,
    UnknownRelease,
    release_followed,
)
from model.message.versions import spelled

OLDEST = (0, 10, 2)
"""The oldest release that the harness steers: it relies on what came with 0.10.2's protocol."""
ZOOKEEPER_END = (4, 0)
"""The first release without ZooKeeper."""
BY_PAUSES = "stale-remote-leo"
"""A scenario that can be had where a real controller decides: brokers are only paused."""
BY_GATE = "refused-expansion"
"""One that is about a real controller: what it is asked waits at a gate. Never with ZooKeeper."""
SPOKEN_MAX = (2, 6)
"""The newest protocol among brokers in which a leader writes the ISR to ZooKeeper itself."""
_SPOKEN_BY_NEWER = (2, 6, 1)
"""The release whose rules a newer one follows that speaks this: what 2.6.1 repaired, it has."""

_OF_THE_CODE = (((3, 7), "hw-needs-min-isr"), ((3, 9, 1), "append-checks-epoch"))
"""Rules that brokers follow from a release on, whatever they speak (KAFKA-15583, KAFKA-18723)."""

_GROUP = "org.apache.kafka"
_FOR_JAVA_11 = ("javax.xml.bind:jaxb-api:2.3.1", "javax.activation:javax.activation-api:1.2.0")
"""What Java left out in version 11 and old brokers still ask for."""
_LOGGING = "org.slf4j:slf4j-reload4j:1.7.36"
"""Where log lines go; releases from 1.0 on leave the choice to who runs them."""
_LOGGING_4 = "org.slf4j:slf4j-simple:1.7.36"
"""The same since 4.0, whose own log4j does not bind to it by itself."""
_ZOOKEEPER = "org.apache.zookeeper:zookeeper:3.5.9"
"""For releases whose own client fails on Java 14 and later (ZOOKEEPER-3779)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRelease:
    """A release and how it is run.

    `spoken` is what brokers speak to each other, None for the release's own. `rules` is the model's
    version that describes it, as `model.message.versions.version_of` reads it. `artifacts` are
    Maven coordinates, first on the class path first.
    """

    number: ReleaseNumber
    is_kraft: bool
    spoken: str | None
    rules: str
    artifacts: tuple[str, ...]

    @property
    def name(self) -> str:
        """As released: 0.10.2.2."""
        return ".".join(map(str, self.number))

    @property
    def title(self) -> str:
        """With what is spoken, where that is another, and with KRaft, where there is a choice."""
        text = f"Kafka {self.name}"
        if self.spoken:
            return f"{text}, speaking {self.spoken}"
        return f"{text}, with KRaft" if self.is_kraft and self.number < ZOOKEEPER_END else text

    def at_least(self, *number: int) -> bool:
        """Whether the release is this one or later."""
        return self.number >= number


def kafka_release(name: str, *, scenario: str | None = None) -> KafkaRelease:
    """The release of this name, with ZooKeeper if it has that, unless the scenario needs KRaft.

    Raises `CannotConfirm`; that the release exists only its jars can show.
    """
    if re.fullmatch(r"\d{1,3}(\.\d{1,3}){2,3}", name) is None:
        raise CannotConfirm(f"--kafka is {name!r}; it must be a release as 0.10.2.2 or 3.9.1")
    number = tuple(int(part) for part in name.split("."))
    if number < OLDEST:
        raise CannotConfirm(f"--kafka is {name}; the oldest that can be steered is 0.10.2.0")
    is_kraft = number >= ZOOKEEPER_END or scenario == BY_GATE
    if is_kraft and number < KRAFT_READY:
        raise CannotConfirm(
            f"--kafka is {name}; {BY_GATE} is about KRaft, which is ready from 3.3 on"
        )
    spoken = None if is_kraft or number[:2] <= SPOKEN_MAX else ".".join(map(str, SPOKEN_MAX))
    try:
        followed = release_followed(_SPOKEN_BY_NEWER if spoken else number, is_kraft=is_kraft)
    except UnknownRelease as problem:
        raise CannotConfirm(f"--kafka is {name}: {problem}") from None
    return KafkaRelease(
        number=number,
        is_kraft=is_kraft,
        spoken=spoken,
        rules=_rules(followed, number),
        artifacts=_artifacts(name, number),
    )


def require_steerable(release: KafkaRelease, scenario: str | None) -> None:
    """Raise `CannotConfirm` for anything but two scenarios on a release with its own controller.

    `scenario` is the name of the catalogue's entry, None for a trace from elsewhere.
    """
    if release.is_kraft and scenario not in {BY_PAUSES, BY_GATE}:
        raise CannotConfirm(
            f"brokers of Kafka {release.name} have a controller of their own, and can only be "
            f"stopped and continued: that shows --scenario {BY_PAUSES} and {BY_GATE} and nothing "
            "else yet; give a release before 4.0"
        )


def _rules(followed: Release, number: ReleaseNumber) -> str:
    """Those of the protocol that is spoken, and what the code does whatever it speaks."""
    if followed.is_kraft:
        return followed.version
    added = (name for since, name in _OF_THE_CODE if number >= since)
    return spelled(followed.base, (*followed.added, *added), followed.removed)


def _artifacts(name: str, number: ReleaseNumber) -> tuple[str, ...]:
    scala = "2.11" if number < (1, 0) else "2.12" if number < KRAFT_FIRST else "2.13"
    kafka = f"{_GROUP}:kafka_{scala}:{name}"
    if number < (1, 0):
        return (kafka, *_FOR_JAVA_11)
    if number >= ZOOKEEPER_END:
        return (kafka, _LOGGING_4)
    if (2, 0) <= number < (2, 4):
        return (_ZOOKEEPER, kafka, _LOGGING)
    return (kafka, _LOGGING)
