"""Facts of a deployment that need no search: single replicas, missing replicas, refused writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.kafka.deployed.deployment import Deployment, Topic
from checker.kafka.matrix.properties import describe_topics, one_replica, unwritable
from checker.problem.wording import counted


def facts_of(deployment: Deployment) -> Iterator[str]:
    """A sentence each, for what is so now."""
    if leaderless := [topic for topic in deployment.topics if topic.leaderless]:
        yield f"Without a leader now: {_partitions(leaderless, 'leaderless')}."
    if under := [topic for topic in deployment.topics if topic.under_replicated]:
        yield f"With fewer replicas in sync than replicas now: {_partitions(under)}."
    if alone := one_replica(deployment):
        names = [topic.name for topic in alone]
        yield f"One replica, so one lost disk loses all: {describe_topics(names)}."
    if refused := unwritable(deployment):
        yield (
            f"acks=all is always refused, since min.insync.replicas is more than the replicas: "
            f"{describe_topics(refused)}."
        )


def _partitions(topics: Sequence[Topic], count: str = "under_replicated") -> str:
    """`12 partitions of orders and payments`"""
    number = sum(getattr(topic, count) for topic in topics)
    return f"{counted(number, 'partition')} of {describe_topics([t.name for t in topics])}"
