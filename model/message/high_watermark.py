"""Moves of a leader's high watermark, and their effect on the world outside.

A wait for a replica outside the ISR ends with lag time, or with newer metadata. Neither makes a
leader of Kafka try its high watermark (`model.message.caught_up`).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import leader_min_isr
from waterline.model.message.caught_up import misses_registration, read_brokers, waits_for
from waterline.model.message.controller import unavailable
from waterline.model.message.features import (
    DEPARTURE_TRIES_HW,
    HW_NEEDS_MIN_ISR,
    KEEPS_WAITING_PRODUCERS,
    MAXIMAL_ISR,
    has,
)
from waterline.model.message.roles import forget_producers
from waterline.model.message.settings import Settings
from waterline.model.message.terms import LEADER, contains, size, with_member, without_member


def counted_isr(s: Any, c: Settings, leader: int) -> int:
    """The replicas that must have a record before it is committed: the ISR as the leader knows it.

    Since KIP-497 also those that it has asked to add: the controller may have agreed already
    ("maximal ISR", Partition.maximalIsr). Not if it has forgotten that request
    (`model.message.replay`).
    """
    members: int = s.known_isr[leader]
    if has(c, MAXIMAL_ISR) and s.disowned[leader] == 0:
        members |= s.pending_isr[leader]
    return members


def in_sync_end(s: Any, c: Settings, leader: int) -> int:
    """The least LEO over those that count; unknown if one of them is unknown.

    Its own LEO counts, whatever the ISR says (Partition.maybeIncrementLeaderHW).
    """
    end = s.leo[leader]
    members = counted_isr(s, c, leader)
    for follower in range(s.replicas):
        if follower != leader:
            if contains(members, follower) or waits_for(s, c, leader, follower):
                end = min(end, s.remote_leo[leader, follower])
    return end


def expose(s: Any, leader: int, end: int) -> None:
    """Offsets below `end` are committed: consumers may have read the leader's records there.

    An offset keeps the record that it had when a leader's high watermark first passed it.
    """
    for offset in range(s.exposed_end, end):
        s.exposed[offset] = s.log[leader, offset]
    s.exposed_end = max(s.exposed_end, end)


def answer_producers(s: Any, c: Settings, leader: int) -> None:
    """Answer the acks=all requests whose records lie below the high watermark.

    With fewer replicas in sync than min.insync.replicas the answer is
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: the record is committed but not acknowledged
    (Partition.checkEnoughReplicasReachOffset).
    """
    enough = size(counted_isr(s, c, leader)) >= leader_min_isr(s, c, leader)
    for offset in range(s.hw[leader]):
        bit = s.log[leader, offset] - 1
        if contains(s.unanswered[leader], bit):
            s.unanswered[leader] = without_member(s.unanswered[leader], bit)
            if enough:
                s.acked = with_member(s.acked, bit)
        if has(c, KEEPS_WAITING_PRODUCERS):
            # The request looks at the offset alone: whatever record is there by now.
            if enough:
                s.acked = s.acked | s.still_waiting[leader, offset]
            s.still_waiting[leader, offset] = 0


def look_at_producers(s: Any, c: Settings, broker: int) -> None:
    """A fetch of a follower, also one that is refused, has the broker look at who still waits.

    A broker that leads no more answers with NOT_LEADER_FOR_PARTITION
    (0.9.0.1 ReplicaManager.updateFollowerLogReadResults, tryCompleteDelayedProduce).
    """
    if not has(c, KEEPS_WAITING_PRODUCERS):
        return
    if s.role[broker] == LEADER:
        answer_producers(s, c, broker)
    else:
        forget_producers(s, broker)


def advance_high_watermark(s: Any, c: Settings, leader: int) -> None:
    """HW := max(HW, least LEO in sync), tried where one of those changes, but after a refusal.

    Since KAFKA-15583 it stays while the ISR has fewer than min.insync.replicas members: a record
    that so few have may be lost, and no consumer should have seen it.
    """
    if has(c, HW_NEEDS_MIN_ISR) and size(s.known_isr[leader]) < leader_min_isr(s, c, leader):
        return
    end = in_sync_end(s, c, leader)
    if end > s.hw[leader]:
        expose(s, leader, end)
        s.hw[leader] = end
        answer_producers(s, c, leader)


def can_lag(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """A follower that caught up lately has not got everything any more."""
    if leader == follower or s.role[leader] != LEADER:
        return False
    if not contains(s.caught_up[leader], follower):
        return False
    return bool(s.remote_leo[leader, follower] != s.leo[leader])


def lag(s: Any, c: Settings, leader: int, follower: int) -> None:
    """replica.lag.time.max.ms is over; Kafka tries no high watermark for that."""
    s.caught_up[leader] = without_member(s.caught_up[leader], follower)
    if has(c, DEPARTURE_TRIES_HW):
        advance_high_watermark(s, c, leader)


def can_learn_brokers(s: Any, c: Settings, leader: int) -> bool:
    """A leader's metadata is behind the controller's in who is down, or registered anew."""
    if s.role[leader] != LEADER:
        return False
    return s.seen_unavailable[leader] != unavailable(s) or misses_registration(s, c, leader)


def learn_brokers(s: Any, c: Settings, leader: int) -> None:
    """The leader catches up; the partition has not changed, and Kafka tries no high watermark.

    (BrokerMetadataPublisher, UpdateMetadata)
    """
    read_brokers(s, c, leader)
    if has(c, DEPARTURE_TRIES_HW):
        advance_high_watermark(s, c, leader)
