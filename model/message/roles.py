"""Laying down a role, and what becomes of the fetches of who does."""

from __future__ import annotations

from typing import Any

from model.message.epochs import latest_epoch
from model.message.settings import Settings
from model.message.terms import (
    FETCHING,
    IDLE,
    LEADER,
    NO_ANSWER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    NO_ROLE,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)


def follows(s: Any, replica: int) -> bool:
    """Whether the broker acts as a follower, fetching or about to."""
    return s.role[replica] == FETCHING or s.role[replica] == TRUNCATING


def drop_fetch(s: Any, follower: int) -> None:
    """The follower's outstanding fetch, whatever became of it, is forgotten."""
    s.fetch[follower] = IDLE
    s.answer_offset[follower] = 0
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
            s.stray_last_epoch = latest_epoch(s, c, follower)
    drop_fetch(s, follower)


def drop_stray(s: Any) -> None:
    """The request that has outlived its sender is gone: delivered, or lost."""
    s.stray_from = NO_REPLICA
    s.stray_to = NO_REPLICA
    s.stray_offset = 0
    s.stray_epoch = 0
    s.stray_last_epoch = NO_EPOCH
    s.stray_stale = 0


def lay_down_role(s: Any, c: Settings, replica: int) -> None:
    """The broker stops being leader or follower; what only that role remembers is gone.

    A leader's waiting produce requests are answered with an error or lost: its records of this term
    will never be acknowledged (DelayedProduce, ReplicaManager.stopReplica/makeFollowers).
    """
    if s.role[replica] == LEADER:
        s.known_isr[replica] = 0
        s.unanswered[replica] = 0
        s.pending_isr[replica] = 0
        s.pending_stale[replica] = 0
        s.answer[replica] = NO_ANSWER
        s.outdated[replica] = 0
        s.entry_lost[replica] = 0
        for follower in range(s.replicas):
            s.remote_leo[replica, follower] = UNKNOWN_OFFSET
    elif follows(s, replica):
        abandon_fetch(s, c, replica)
        s.cached_epoch[replica] = NO_EPOCH
        s.known_leader[replica] = 0
    s.role[replica] = NO_ROLE
