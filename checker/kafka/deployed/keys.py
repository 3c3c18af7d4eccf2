"""Kafka's setting names: those that replication depends on, and those that are read and not used.

A key that is nearly one of them is a mistake: Kafka ignores it, and the reader of the answer would
not know. Names and units are those of Kafka's documentation (Broker Configs, Topic Configs).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from waterline.model.core.errors import nearest

ACKS = "acks"
MIN_INSYNC = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
BROKER = "inter.broker.protocol.version"
METADATA = "metadata.version"
ROLES = "process.roles"
RACK = "broker.rack"
BOTH = "broker,controller"
"""Roles of nodes that have the same settings whatever they are."""
ZOOKEEPER = "zookeeper.connect"
MIGRATION = "zookeeper.metadata.migration.enable"
ELIGIBLE = "eligible.leader.replicas.version"
TOPIC_REPLICATION = "replication.factor"
REPLICATION = "default.replication.factor"
SOFTWARE = "kafka-version"
"""No setting of Kafka's: the release that runs, as an option, a custom resource or an image says
it."""
KEYS = (
    ROLES,
    ZOOKEEPER,
    METADATA,
    BROKER,
    ELIGIBLE,
    REPLICATION,
    TOPIC_REPLICATION,
    ACKS,
    MIN_INSYNC,
    UNCLEAN,
)
"""The keys that the model depends on."""

IDENTITY = frozenset(
    {
        *(ROLES, "node.id", "broker.id", "log.dirs", "log.dir", "advertised.listeners"),
        *("controller.quorum.voters", "controller.quorum.bootstrap.servers"),
        *("controller.listener.names", "inter.broker.listener.name", RACK),
    }
)
"""Keys that brokers and controllers have, and none of their clients, nor Connect or ZooKeeper."""

NOT_MODELLED: Mapping[str, str] = {
    "log.flush.interval.messages": "when the broker flushes its logs",
    "log.flush.interval.ms": "when the broker flushes its logs",
    "flush.messages": "when the topic's logs are flushed",
    "flush.ms": "when the topic's logs are flushed",
    "log.flush.scheduler.interval.ms": "how often the flusher looks for logs to flush",
    "log.flush.offset.checkpoint.interval.ms": "how often the recovery point is written",
    "log.flush.start.offset.checkpoint.interval.ms": "how often the log start offset is written",
    "replica.high.watermark.checkpoint.interval.ms": "how often the high watermark is written",
    "replica.lag.time.max.ms": "after how long a slow follower leaves the ISR",
    "replica.lag.max.messages": "after how many messages a slow follower leaves the ISR",
    "controlled.shutdown.enable": "whether a broker hands over its leaderships before it stops",
    "controlled.shutdown.max.retries": "how often a broker tries to hand them over",
    "auto.leader.rebalance.enable": "whether leadership returns to preferred replicas",
    "broker.session.timeout.ms": "after how long a silent broker is fenced (KRaft)",
    "broker.heartbeat.interval.ms": "how often a broker reports (KRaft)",
    "zookeeper.session.timeout.ms": "after how long a silent broker is taken for dead",
    "unclean.leader.election.interval.ms": "how often KRaft looks for unclean elections",
    "unclean.recovery.strategy": "how KIP-966 recovers without a clean leader",
    "unclean.recovery.manager.enabled": "how KIP-966 recovers without a clean leader",
    "log.message.format.version": "the format of records; before 0.11 it has no leader epochs",
    "message.format.version": "the format of records; before 0.11 it has no leader epochs",
    "remote.storage.enable": "tiered storage",
    "remote.log.storage.system.enable": "tiered storage",
    "offsets.topic.replication.factor": "the replicas of __consumer_offsets alone",
    "transaction.state.log.replication.factor": "the replicas of __transaction_state alone",
    "transaction.state.log.min.isr": "min.insync.replicas of __transaction_state alone",
    "enable.idempotence": "whether a producer's retries can write a record twice",
}
"""Settings that touch durability and that no model of ours has: reported as read and not used."""

SOURCES: Mapping[str, str] = {
    "DYNAMIC_TOPIC_CONFIG": "set for the topic",
    "DYNAMIC_BROKER_CONFIG": "set for the broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "set for all brokers",
    "STATIC_BROKER_CONFIG": "broker's server.properties",
    "DEFAULT_CONFIG": "Kafka's default",
}
"""Sources of a broker's answer in words (ConfigEntry.ConfigSource)."""

_NUMBERS = re.compile(r"(interval|timeout|max|flush)\.(ms|messages|retries)$|replication\.factor$")
_WITH_UNIT = re.compile(r"\s*([0-9]{1,18})\s*([A-Za-z]+)\s*")
_MILLISECONDS = {"ms": 1, "s": 1_000, "sec": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}
_ALIKE = 0.85
"""Similarity (0 to 1) above which a key counts as a misspelling of another. Kafka's own other keys
reach at most 0.8 (unclean.leader.election.interval.ms)."""
_WRONG_NAMES: Mapping[str, str] = {
    "min.isr": MIN_INSYNC,
    "min.in.sync.replicas": MIN_INSYNC,
    "mininsyncreplicas": MIN_INSYNC,
    "min.insync": MIN_INSYNC,
    "insync.replicas": MIN_INSYNC,
    "unclean.leader.election": UNCLEAN,
    "unclean.election.enable": UNCLEAN,
    "uncleanleaderelectionenable": UNCLEAN,
    "defaultreplicationfactor": REPLICATION,
    "replication.factor.default": REPLICATION,
}
"""Names that people write and that are further from Kafka's."""


@functools.lru_cache(maxsize=4096)
def meant_instead(key: str) -> str | None:
    """Return the key that a misspelt one means; None for a known key or one far from all."""
    if key in KEYS or key in NOT_MODELLED:
        return None
    if known := _WRONG_NAMES.get(key.lower().replace("_", "").replace("-", "")):
        return known
    underscores = key.replace("_", ".").replace("-", ".")
    if underscores in KEYS:
        return underscores
    return nearest(key, KEYS, alike=_ALIKE)


def unit_remedy(key: str, value: str) -> str | None:
    """Return the remedy for a value with a unit; None if it has none, or the key allows it."""
    is_number = key in {MIN_INSYNC, REPLICATION, TOPIC_REPLICATION} or _NUMBERS.search(key)
    matched = _WITH_UNIT.fullmatch(value) if is_number else None
    if matched is None:
        return None
    factor = _MILLISECONDS.get(matched[2].lower()) if key.endswith(".ms") else None
    number = int(matched[1]) * (factor or 1)
    unit = "a plain number of milliseconds" if key.endswith(".ms") else "a plain number"
    return f"Kafka takes {unit}, without a unit" + (
        f": {number}" if factor or not key.endswith(".ms") else ""
    )
