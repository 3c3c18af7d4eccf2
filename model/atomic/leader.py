"""Steps of a replica that believes it leads. It reads its followers' logs as they are now.

This grain has no fetch requests: a leader may take any step that some fetches of its followers,
each at the offset where its log ends, could have led to.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.logs import same_epoch
from waterline.model.atomic.quorum import is_true_leader, known_leader, leads
from waterline.model.atomic.terms import (
    BY_LEADER_EPOCH,
    BY_RECORD_EPOCH,
    LOG_SIZE,
    RECORDS,
    UNFENCED,
    WITHIN,
    AtomicSettings,
)
from waterline.model.message.epochs import epoch_at
from waterline.model.message.terms import NO_REPLICA, contains, with_member, without_member


def has_replicated(s: Any, c: AtomicSettings, leader: int, follower: int, end: int) -> bool:
    """True if the leader may assume that the follower has everything below `end`.

    The follower must name this leader and have a log that long. The version's fencing says what
    else must agree. Without it, a follower counts that is in another epoch than the leader, or that
    has other records. A leader is its own follower.
    """
    if known_leader(s, follower) != leader:
        return False
    if c.fencing == BY_LEADER_EPOCH:
        return (
            leads(s, leader)
            and s.known_epoch[follower] == s.known_epoch[leader]
            and s.leo[follower] >= end
        )
    if end == 0:
        return c.fencing == UNFENCED or leads(s, leader)
    if s.leo[leader] < end or s.leo[follower] < end:
        return False
    if c.fencing == BY_RECORD_EPOCH:
        return leads(s, leader) and same_epoch(s, leader, follower, end - 1)
    return True


def can_become_leader(s: Any, c: AtomicSettings, epoch: int) -> bool:
    """The request of `epoch` names a leader, who knows no newer one."""
    leader = s.request_leader[epoch]
    return leader != NO_REPLICA and epoch > s.known_epoch[leader]


def become_leader(s: Any, c: AtomicSettings, epoch: int) -> None:
    """The replica leads. Its high watermark stays, and so may lag that of its predecessor."""
    leader = s.request_leader[epoch]
    s.known_epoch[leader] = epoch
    s.known_isr[leader] = s.request_isr[epoch]


def can_produce(s: Any, c: AtomicSettings, leader: int) -> bool:
    """A broker that believes that it leads accepts a write."""
    return leads(s, leader)


def produce(s: Any, c: AtomicSettings, leader: int) -> None:
    """Append the next record, in the leader's epoch."""
    s.produced += 1
    s.log[leader, s.leo[leader]] = s.produced
    s.record_epoch[s.produced - 1] = s.known_epoch[leader]
    s.leo[leader] += 1


def produce_limit(s: Any, c: AtomicSettings, leader: int) -> int:
    """Every record may have been produced already, or the leader's log be full."""
    if s.produced == s.records:
        return RECORDS
    return LOG_SIZE if s.leo[leader] == s.log_size else WITHIN


def can_advance_high_watermark(s: Any, c: AtomicSettings, leader: int) -> bool:
    """Everybody in the ISR that the leader knows has the record at its high watermark."""
    if not leads(s, leader) or s.leo[leader] <= s.hw[leader]:
        return False
    for follower in range(s.replicas):
        if contains(s.known_isr[leader], follower):
            if not has_replicated(s, c, leader, follower, s.hw[leader] + 1):
                return False
    return True


def advance_high_watermark(s: Any, c: AtomicSettings, leader: int) -> None:
    """The leader commits one more record."""
    s.hw[leader] += 1


def can_shrink_isr(s: Any, c: AtomicSettings, leader: int, follower: int) -> bool:
    """A follower that does not have the leader's whole log may be found lagging.

    Only the true leader can write the ISR: that is the one fence that every version has. It
    never finds itself lagging.
    """
    return (
        contains(s.known_isr[leader], follower)
        and is_true_leader(s, leader)
        and not has_replicated(s, c, leader, follower, s.leo[leader])
    )


def shrink_isr(s: Any, c: AtomicSettings, leader: int, follower: int) -> None:
    """The follower leaves the ISR, the quorum's and the leader's at once."""
    s.known_isr[leader] = without_member(s.known_isr[leader], follower)


def has_reached_own_epoch(s: Any, leader: int) -> bool:
    """True if the high watermark is at the end of the log or at a record of the leader's epoch.

    Before that, its predecessors may have committed records that the leader takes to be open.
    """
    hw = s.hw[leader]
    if hw == s.leo[leader]:
        return True
    return hw < s.leo[leader] and epoch_at(s, leader, hw) == s.known_epoch[leader]


def can_expand_isr(s: Any, c: AtomicSettings, leader: int, follower: int) -> bool:
    """A follower that has everything below the leader's high watermark may join.

    With any fencing, not before that high watermark has reached the leader's own epoch.
    """
    return (
        not contains(s.known_isr[leader], follower)
        and is_true_leader(s, leader)
        and has_replicated(s, c, leader, follower, s.hw[leader])
        and (c.fencing == UNFENCED or has_reached_own_epoch(s, leader))
    )


def expand_isr(s: Any, c: AtomicSettings, leader: int, follower: int) -> None:
    """The follower joins the ISR, the quorum's and the leader's at once."""
    s.known_isr[leader] = with_member(s.known_isr[leader], follower)
