"""Facts of a deployment that need no search: single replicas, missing replicas, refused writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waterline.checker.kafka.deployed.deployment import Copies, Deployment, EmptyMember, Topic
from waterline.checker.kafka.deployed.keys import MIN_INSYNC
from waterline.checker.kafka.deployed.setting import whole_number
from waterline.checker.kafka.matrix.properties import (
    describe_topics,
    more_than_replicas,
    one_replica,
    unwritable,
)
from waterline.checker.kafka.matrix.protocol_of import Protocol
from waterline.checker.problem.wording import list_of, quantity

IN_DANGER_MAX = 3
"""Partitions in danger that are named on the first screen."""


def facts_of(deployment: Deployment, protocol: Protocol) -> Iterator[str]:
    """A sentence each, for what is so now."""
    in_danger = list(elr_in_danger(deployment))
    yield from (f"In danger now: {text}" for _, _, text in in_danger[:IN_DANGER_MAX])
    if (more := len(in_danger) - IN_DANGER_MAX) > 0:
        yield f"In danger now: {quantity(more, 'more partition')} likewise; --json names them."
    if leaderless := [topic for topic in deployment.topics if topic.leaderless]:
        yield f"Without a leader now: {_partitions(leaderless, 'leaderless')}."
    if under := [topic for topic in deployment.topics if topic.under_replicated]:
        yield f"With fewer replicas in sync than replicas now: {_partitions(under)}."
    if below := list(_refusing_now(deployment)):
        yield _describe_refused(below)
    if alone := one_replica(deployment):
        yield f"One replica, so one lost disk loses all: {list_of([_alone(t) for t in alone])}."
    if refused := unwritable(deployment, protocol):
        yield (
            f"acks=all is always refused, since min.insync.replicas is more than the replicas: "
            f"{describe_topics(refused)}."
        )
    elif capped := more_than_replicas(deployment):
        yield (
            f"min.insync.replicas is more than the replicas, so Kafka takes as many as there are: "
            f"{describe_topics(capped)}."
        )


def elr_in_danger(deployment: Deployment) -> Iterator[tuple[str, EmptyMember, str]]:
    """Topic and partition, the broker in its ELR that may be empty, and what that means."""
    for topic in deployment.topics:
        for each in topic.empty_members:
            name = f"{topic.name}-{each.partition}"
            if each.is_adding:
                danger = (
                    f"broker {each.broker}, which is being added, is in the ELR: with the leader "
                    "down it may be elected with an incomplete log. Keep the leader up until Isr "
                    "has min.insync.replicas members"
                )
            else:
                danger = (
                    f"broker {each.broker} is in the ELR and is no replica: added again now, it "
                    "may be elected with an empty log. Do not add it, and keep the leader up, "
                    "until Isr has min.insync.replicas members"
                )
            yield name, each, f"{name}: {danger} (docs/losses.md)."


def _alone(topic: Topic) -> str:
    """`orders`, or `2 partitions of orders` where the others have more replicas."""
    if len({each.replicas for each in topic.copies}) < 2:
        return topic.name
    number = sum(each.partitions for each in topic.copies if each.replicas == 1)
    return f"{quantity(number, 'partition')} of {topic.name}"


def _refusing_now(deployment: Deployment) -> Iterator[tuple[Topic, Copies]]:
    """Partitions with fewer replicas in sync than min.insync.replicas, which may be more than all.

    Those where it is more than the replicas are another fact (`unwritable`).
    """
    for topic in deployment.topics:
        setting = topic.settings.get(MIN_INSYNC) or deployment.brokers.get(MIN_INSYNC)
        needed = whole_number(setting.value) if setting is not None else None
        for each in topic.copies:
            if 0 < each.in_sync < min(needed or 1, each.replicas):
                yield topic, each


def _describe_refused(found: Sequence[tuple[Topic, Copies]]) -> str:
    number = quantity(sum(copies.partitions for _, copies in found), "partition")
    names = list(dict.fromkeys(topic.name for topic, _ in found))
    if len(found) > 1:
        which = f"{number} of {describe_topics(names)}"
        return f"acks=all is refused now, with fewer in sync than min.insync.replicas: {which}."
    [(topic, copies)] = found
    verb = "has" if copies.partitions == 1 else "have"
    which = f"{number} of {topic.name} {verb} {copies.in_sync} of {copies.replicas} in sync"
    return f"acks=all is refused now: {which}."


def _partitions(topics: Sequence[Topic], count: str = "under_replicated") -> str:
    """`12 partitions of orders and payments`"""
    number = sum(getattr(topic, count) for topic in topics)
    return f"{quantity(number, 'partition')} of {describe_topics([t.name for t in topics])}"
