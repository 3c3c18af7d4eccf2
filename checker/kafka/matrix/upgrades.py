"""Upgrade targets: the last release with ZooKeeper and the newest with KRaft.

Not every release between: what one changed the last has too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from waterline.checker.kafka.matrix.properties import Config
from waterline.model.message.release_names import active_rules
from waterline.model.message.releases import (
    ELIGIBLE_LEADER_REPLICAS_FIRST,
    NEWEST_RELEASE,
    ZOOKEEPER_LAST,
    ReleaseNumber,
    release_followed,
)
from waterline.model.message.versions import version_of

ELIGIBLE_ON = "set eligible.leader.replicas.version=1 (kafka-features)"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A release with other rules: its version, what is to be done, and what that takes."""

    version: str
    description: str
    cost: str


def upgrades(config: Config) -> Iterator[Upgrade]:
    """The releases ahead whose rules differ from each other and from those there are."""
    seen = [_rules(config.version)]
    for upgrade in _ahead(config):
        if _rules(upgrade.version) not in seen:
            seen.append(_rules(upgrade.version))
            yield upgrade


def _rules(version: str) -> tuple[int, int]:
    """The rules that change something where none of the rare steps is taken."""
    return active_rules(version_of(version), ("Restart", "Replay"))


def _ahead(config: Config) -> Iterator[Upgrade]:
    number, is_kraft = config.number, config.is_kraft
    if not is_kraft and number[:2] < ZOOKEEPER_LAST:
        yield _to(ZOOKEEPER_LAST, "ZooKeeper", "All brokers are upgraded.")
    moved = "All brokers are upgraded" + ("." if is_kraft else ", and ZooKeeper is left for KRaft.")
    newest = _to(NEWEST_RELEASE, "KRaft", moved)
    with_elr = release_followed(NEWEST_RELEASE, is_kraft=True, eligible_leader_replicas=True)
    if config.has_eligible_leader_replicas:
        yield Upgrade(with_elr.version, newest.description, newest.cost)
        return
    yield newest
    if is_kraft and number >= ELIGIBLE_LEADER_REPLICAS_FIRST:
        yield Upgrade(with_elr.version, ELIGIBLE_ON, "Only the feature is upgraded, no broker.")
    else:
        yield Upgrade(with_elr.version, f"{newest.description}, then {ELIGIBLE_ON}", moved)


def _to(number: ReleaseNumber, manner: str, cost: str) -> Upgrade:
    followed = release_followed(number, is_kraft=manner == "KRaft")
    text = f"upgrade to Kafka {'.'.join(map(str, number))} with {manner}"
    return Upgrade(followed.version, text, cost)
