"""Facts of a deployment that need no search: single replicas, missing replicas, refused writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from waterline.checker.kafka.deployed.deployment import (
    Deployment,
    Partition,
    Place,
    Topic,
    whole_number,
)
from waterline.checker.kafka.deployed.keys import MIN_INSYNC, RACK
from waterline.checker.kafka.matrix.properties import (
    Config,
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
    yield from (f"In danger now: {text}" for *_, text in in_danger[:IN_DANGER_MAX])
    if (more := len(in_danger) - IN_DANGER_MAX) > 0:
        yield f"In danger now: {quantity(more, 'more partition')} likewise; --json names them."
    now = [(topic, each) for topic in deployment.topics for each in topic.now]
    if leaderless := [topic for topic, each in now if each.leader is None]:
        yield f"Without a leader now: {_partitions(leaderless)}."
    if under := [topic for topic, each in now if len(each.isr) < len(each.replicas)]:
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


def describe_zones(deployment: Deployment, config: Config) -> Iterator[str]:
    """Yield what the faults mean for the zones of a class of topics, where zones are known."""
    zones, needed = deployment.zones, config.yours.min_insync
    if len(zones) < 2 or config.yours.replicas < 2:
        return
    most, is_seen = _most_in_a_zone(deployment, config)
    named = f"Zones {list_of(zones)} ({RACK})"
    if most == 1:
        how = "hold" if is_seen else "should hold"
        yield (
            f'{named} {how} one replica each: then "power loss" is also a zone that loses power, '
            'and "zombie" one that is cut off from the controller.'
        )
        return
    how = "hold" if is_seen else "hold at best"
    yield (
        f"{named} {how} {most} of {config.yours.replicas} replicas in one: if that zone loses "
        f'power, {most} machines do at once, and "power loss" is about one.'
    )
    if config.acks == "all" and needed <= most:
        yield (
            f"An acknowledged record may be in that zone alone ({MIN_INSYNC}={needed}): it is lost "
            "then. With more zones fewer replicas share one."
        )


def _most_in_a_zone(deployment: Deployment, config: Config) -> tuple[int, bool]:
    """Return the most replicas of a partition in one zone, and True if the cluster says so.

    Where it does not, replicas are as evenly spread over zones as Kafka spreads them.
    """
    racks = {node.number: node.rack for node in deployment.nodes}
    names = {name.partition(" (")[0] for name in config.topics}
    placed = [
        Counter(racks[broker] for broker in each.replicas)
        for topic in deployment.topics
        if topic.name in names
        for each in topic.now
        if set(each.replicas) <= racks.keys()
    ]
    if placed:
        return max(max(each.values()) for each in placed if each), True
    return math.ceil(config.yours.replicas / len(deployment.zones)), False


def elr_in_danger(deployment: Deployment) -> Iterator[tuple[str, int, Place | None, str]]:
    """Yield brokers in an ELR that may be empty (C55): not a replica, or being added.

    Each comes with its topic and partition before, and its place and a sentence after it.
    """
    for topic in deployment.topics:
        for each in topic.now:
            for broker in sorted({*(each.elr or ())} - {*each.replicas}):
                if broker in (each.adding or ()):
                    danger = (
                        f"broker {broker}, which is being added, is in the ELR: with the leader "
                        "down it may be elected with an incomplete log. Keep the leader up until "
                        "Isr has min.insync.replicas members"
                    )
                else:
                    danger = (
                        f"broker {broker} is in the ELR and is no replica: added again now, it "
                        "may be elected with an empty log. Do not add it, and keep the leader up, "
                        "until Isr has min.insync.replicas members"
                    )
                name = f"{topic.name}-{each.number}"
                yield name, broker, each.place, f"{name}: {danger} (docs/losses.md)."


def _alone(topic: Topic) -> str:
    """`orders`, or `2 partitions of orders` where the others have more replicas."""
    sizes = [len(each.replicas) for each in topic.now]
    if len({*sizes}) < 2:
        return topic.name
    return f"{quantity(sizes.count(1), 'partition')} of {topic.name}"


def _refusing_now(deployment: Deployment) -> Iterator[tuple[Topic, Partition]]:
    """Partitions with fewer replicas in sync than min.insync.replicas, which may be more than all.

    Those where it is more than the replicas are another fact (`unwritable`).
    """
    for topic in deployment.topics:
        setting = topic.settings.get(MIN_INSYNC) or deployment.brokers.get(MIN_INSYNC)
        needed = whole_number(setting.value) if setting is not None else None
        for each in topic.now:
            if 0 < len(each.isr) < min(needed or 1, len(each.replicas)):
                yield topic, each


def _describe_refused(found: Sequence[tuple[Topic, Partition]]) -> str:
    which = _partitions([topic for topic, _ in found])
    kinds = {(topic.name, len(each.isr), len(each.replicas)) for topic, each in found}
    if len(kinds) > 1:
        return f"acks=all is refused now, with fewer in sync than min.insync.replicas: {which}."
    [(_, in_sync, replicas)] = kinds
    verb = "has" if len(found) == 1 else "have"
    return f"acks=all is refused now: {which} {verb} {in_sync} of {replicas} in sync."


def _partitions(topics: Sequence[Topic]) -> str:
    """`12 partitions of orders and payments`, of a topic for each partition."""
    names = list(dict.fromkeys(topic.name for topic in topics))
    return f"{quantity(len(topics), 'partition')} of {describe_topics(names)}"
