"""Laying down a role, and what becomes of the fetches of who does."""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import last_fetched_epoch
from waterline.model.message.features import KEEPS_WAITING_PRODUCERS, has
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    BOOK_BY_EPOCH,
    BOOK_BY_REPLICA,
    FETCHING,
    IDLE,
    LEADER,
    NO_ANSWER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    NO_ROLE,
    NOTHING_TO_REPLAY,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
    contains,
    with_member,
    without_member,
)


def follows(s: Any, replica: int) -> bool:
    """True if the broker acts as a follower, fetching or about to."""
    return s.role[replica] == FETCHING or s.role[replica] == TRUNCATING


def drop_fetch(s: Any, follower: int) -> None:
    """The follower's outstanding fetch, whatever became of it, is forgotten."""
    s.fetch[follower] = IDLE
    s.answer_offset[follower] = 0
    s.cuts_finally[follower] = 0
    for i in range(s.records):
        s.answer_log[follower, i] = NO_RECORD


def abandon_fetch(s: Any, c: Settings, follower: int) -> None:
    """The follower waits for its fetch no longer; a request on its way may arrive all the same.

    Kafka cannot call one back that is in the network, or queued at the leader. There is one such
    request at a time here: one more is lost, as the first may have been.
    """
    if c.requests_survive == 1 and s.fetch[follower] == REQUESTED and s.stray_from == NO_REPLICA:
        if s.up[s.known_leader[follower]] == 1:
            s.stray_from = follower
            s.stray_to = s.known_leader[follower]
            s.stray_offset = s.leo[follower]
            s.stray_epoch = s.known_epoch[follower]
            s.stray_last_epoch = last_fetched_epoch(s, c, follower)
    drop_fetch(s, follower)


def drop_stray(s: Any) -> None:
    """The request that has outlived its sender is gone: delivered, or lost."""
    s.stray_from = NO_REPLICA
    s.stray_to = NO_REPLICA
    s.stray_offset = 0
    s.stray_epoch = 0
    s.stray_last_epoch = NO_EPOCH
    s.stray_stale = 0


def drop_booking(s: Any) -> None:
    """The leader has taken note of the fetch, or is gone."""
    s.booking_from = NO_REPLICA
    s.booking_to = NO_REPLICA
    s.booking_offset = 0
    s.booking_stale = 0
    s.booking_void = 0


def replace_replicas(s: Any, c: Settings, leader: int) -> None:
    """The leader's Replica objects are replaced: a fetch that it has checked goes to an old one.

    (Partition.updateAssignmentAndIsr, remoteReplicasMap)
    """
    if c.late_booking == BOOK_BY_REPLICA:
        void_booking(s, leader)


def end_epoch(s: Any, c: Settings, leader: int) -> None:
    """The broker leads in this epoch no more: the proposed rule notes no fetch of it any more."""
    if c.late_booking == BOOK_BY_EPOCH:
        void_booking(s, leader)


def void_booking(s: Any, leader: int) -> None:
    """The offset that the leader has checked and not noted is out of date."""
    if s.booking_to == leader:
        s.booking_void = 1


def drop_follower(s: Any, c: Settings, leader: int, follower: int) -> None:
    """The leader drops its Replica object of one follower, with what it says."""
    s.remote_leo[leader, follower] = UNKNOWN_OFFSET
    if c.caught_up_wait == 1:
        s.caught_up[leader] = without_member(s.caught_up[leader], follower)
        s.fetched_since[leader] = without_member(s.fetched_since[leader], follower)
        matching = without_member(s.broker_epoch_matches[leader], follower)
        s.broker_epoch_matches[leader] = matching
    if c.late_booking == BOOK_BY_REPLICA and s.booking_from == follower:
        void_booking(s, leader)


def lay_down_role(s: Any, c: Settings, replica: int) -> None:
    """The broker stops being leader or follower; what only that role remembers is gone.

    A leader's waiting produce requests are answered with an error or lost: its records of this term
    will never be acknowledged (DelayedProduce, ReplicaManager.stopReplica/makeFollowers); but for
    those that up to 0.9 wait on.
    """
    if s.role[replica] == LEADER:
        if has(c, KEEPS_WAITING_PRODUCERS):
            keep_producers(s, replica)
        replace_replicas(s, c, replica)
        end_epoch(s, c, replica)
        s.known_isr[replica] = 0
        s.unanswered[replica] = 0
        s.pending_isr[replica] = 0
        s.pending_stale[replica] = 0
        s.answer[replica] = NO_ANSWER
        s.outdated[replica] = 0
        s.caught_up[replica] = 0
        s.seen_unavailable[replica] = 0
        s.read_registrations[replica] = 0
        s.fetched_since[replica] = 0
        s.broker_epoch_matches[replica] = 0
        s.replay[replica] = NOTHING_TO_REPLAY
        s.replay_isr[replica] = 0
        s.disowned[replica] = 0
        s.entry_lost[replica] = 0
        s.known_replicas[replica] = 0
        for follower in range(s.replicas):
            s.remote_leo[replica, follower] = UNKNOWN_OFFSET
    elif follows(s, replica):
        abandon_fetch(s, c, replica)
        s.cached_epoch[replica] = NO_EPOCH
        s.fetched_epoch[replica] = NO_EPOCH
        s.known_leader[replica] = 0
    s.role[replica] = NO_ROLE


def keep_producers(s: Any, replica: int) -> None:
    """Unanswered requests stay in the purgatory, each with the offset that it needs.

    KAFKA-2960: until 0.10.0.0 makeFollowers did not look at them. As long as the broker leads, its
    log has their records.
    """
    for offset in range(s.leo[replica]):
        bit = s.log[replica, offset] - 1
        if contains(s.unanswered[replica], bit):
            s.still_waiting[replica, offset] = with_member(s.still_waiting[replica, offset], bit)


def forget_producers(s: Any, replica: int) -> None:
    """No producer of a past term waits at the broker any more."""
    for offset in range(s.records):
        s.still_waiting[replica, offset] = 0
