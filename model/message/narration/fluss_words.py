"""Fluss's words for what a sentence says in Kafka's: tablet server, bucket, coordinator."""

from __future__ import annotations

import re

_WORDS = {
    "controller": "coordinator",
    "broker": "tablet server",
    "partition": "bucket",
    "replication-offset-checkpoint": "high-watermark-checkpoint",
    "min.insync.replicas": "log.replica.min-in-sync-replicas-number",
    "replica.lag.time.max.ms": "log.replica.max-lag-time",
    "AlterPartition": "AdjustIsr",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
}
_ANY = re.compile("|".join(map(re.escape, sorted(_WORDS, key=len, reverse=True))), re.IGNORECASE)


def in_words_of_fluss(text: str) -> str:
    """Return the sentence in the words of Fluss."""
    return _ANY.sub(_translate, text)


def _translate(found: re.Match[str]) -> str:
    said = found[0]
    meant = _WORDS.get(said) or _WORDS[said.lower()]
    return meant.capitalize() if said[0].isupper() and meant.islower() else meant
