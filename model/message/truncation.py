"""Truncation by leader epoch: a follower learns from its leader where its own last epoch ends."""

from __future__ import annotations

from typing import Any

from model.message.epochs import end_offset_for, latest_epoch
from model.message.features import FENCING, KRAFT, has
from model.message.roles import forget_lost_records, truncate
from model.message.settings import Settings
from model.message.terms import (
    FETCHING,
    LEADER,
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATING,
    UNKNOWN_OFFSET,
    contains,
)


def can_offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> bool:
    """The broker that the follower knows as leader is up and believes so too.

    Since KIP-320 both must mean the same epoch; until then nothing checks it. A broker about to
    shut down asks no more, as it fetches no more.
    """
    if s.role[follower] != TRUNCATING:
        return False
    if contains(s.stopping, follower) and not has(c, KRAFT):
        return False
    leader = s.known_leader[follower]
    if s.role[leader] != LEADER:
        return False
    return not has(c, FENCING) or s.known_epoch[leader] == s.known_epoch[follower]


def offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> None:
    """Ask, and truncate to the answer; where it is undefined, to the high watermark.

    Request and answer are one step (ReplicaFetcherThread.maybeTruncate in 0.11,
    AbstractFetcherThread.getOffsetTruncationState since 2.0). Since KIP-279 a follower that does
    not have the epoch of the answer cuts off what is above it and asks again.
    """
    leader = s.known_leader[follower]
    epoch, end = end_offset_for(s, c, leader, latest_epoch(s, c, follower))
    cut, agreed = truncation_point(s, c, follower, epoch, end)
    truncate(s, follower, cut)
    if agreed == 1:
        s.role[follower] = FETCHING
    forget_lost_records(s)


def truncation_point(s: Any, c: Settings, follower: int, epoch: int, end: int) -> tuple[int, int]:
    """Where a follower cuts its log on hearing that `epoch` ends at `end`, and whether that is all.

    By one question (KIP-101): at `end`. Since KIP-279: at the lesser of that and the end of the
    same epoch in its own log; if it does not have that epoch, at the end of its largest smaller
    one, and then it asks again. If it has none smaller, 2.0.0 takes `end` as it is
    (`truncate-by-epochs-2.0`), which leaves in place what it should cut.
    """
    log_end = s.leo[follower]
    if end == UNKNOWN_OFFSET:
        return min(s.hw[follower], log_end), 1
    if c.truncation == TRUNCATE_BY_EPOCH:
        return min(end, log_end), 1
    own_epoch, own_end = end_offset_for(s, c, follower, epoch)
    if own_end == UNKNOWN_OFFSET:
        return (min(end, log_end) if c.truncation == TRUNCATE_BY_EPOCHS_2_0 else 0), 1
    if own_epoch != epoch:
        return min(own_end, log_end), 0
    return min(end, own_end, log_end), 1
