"""Steps of a replica that believes it leads, of its followers, and of the controller.

This grain has no fetch requests: question and answer between two brokers are one step. A leader
reads its followers' logs as they are now. It may take any step that some fetches of theirs, each at
the offset where its log ends, could have led to. Each decision of the controller takes the next
leader epoch and sends one request.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.logs import cut, matching_end, same_epoch, truncation_end
from waterline.model.atomic.state import (
    is_true_leader,
    known_leader,
    leads,
    quorum_isr,
    quorum_leader,
)
from waterline.model.atomic.terms import (
    BY_LEADER_EPOCH,
    BY_RECORD_EPOCH,
    EPOCHS,
    LOG_SIZE,
    RECORDS,
    UNFENCED,
    WHILE_FETCHING,
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


def can_become_follower(s: Any, c: AtomicSettings, replica: int, epoch: int) -> bool:
    """The request of `epoch` is newer than what the replica knows, and names another leader.

    With the leader epoch as fence the named leader must lead in that very epoch: until then it
    cannot say where to truncate. A request without a leader does not make a follower.
    """
    leader = s.request_leader[epoch]
    if leader == NO_REPLICA or epoch <= s.known_epoch[replica]:
        return False
    if leader == replica:
        return False
    if c.fencing == BY_LEADER_EPOCH and s.known_epoch[leader] != epoch:
        return False
    return truncation_end(s, c, leader, replica) <= s.leo[replica]


def become_follower(s: Any, c: AtomicSettings, replica: int, epoch: int) -> None:
    """The replica truncates by the version's rule and follows, whatever it was before."""
    end = truncation_end(s, c, s.request_leader[epoch], replica)
    s.known_epoch[replica] = epoch
    s.known_isr[replica] = 0
    if c.truncation != WHILE_FETCHING:
        cut(s, replica, end)


def can_fetch(s: Any, c: AtomicSettings, follower: int) -> bool:
    """Its leader agrees that it leads, has more, and they agree on what the follower has."""
    leader = known_leader(s, follower)
    return (
        leader != NO_REPLICA
        and leads(s, leader)
        and s.leo[follower] < s.leo[leader]
        and has_replicated(s, c, leader, follower, s.leo[follower])
    )


def fetch(s: Any, c: AtomicSettings, follower: int) -> None:
    """Append one record, then HW := min(leader's HW, own LEO), which may also lower it."""
    leader = known_leader(s, follower)
    offset = s.leo[follower]
    s.log[follower, offset] = s.log[leader, offset]
    s.leo[follower] = offset + 1
    s.hw[follower] = min(s.hw[leader], offset + 1)


def can_truncate(s: Any, c: AtomicSettings, follower: int) -> bool:
    """A fetch shows a log longer than the leader's, or a last record of another epoch."""
    leader = known_leader(s, follower)
    if leader == NO_REPLICA or not leads(s, leader):
        return False
    end = s.leo[follower]
    if end > s.leo[leader]:
        return True
    return end > 0 and not same_epoch(s, leader, follower, end - 1)


def truncate_log(s: Any, c: AtomicSettings, follower: int) -> None:
    """Remove everything above the last offset where both logs hold the same record."""
    cut(s, follower, matching_end(s, known_leader(s, follower), follower))


def decide(s: Any, leader: int, isr: int) -> None:
    """Give out the next epoch with this leader and this ISR."""
    s.request_leader[s.issued] = leader
    s.request_isr[s.issued] = isr
    s.issued += 1


def can_elect(s: Any, c: AtomicSettings, replica: int) -> bool:
    """A member of the ISR that is not the leader already."""
    return contains(quorum_isr(s), replica) and quorum_leader(s) != replica


def elect(s: Any, c: AtomicSettings, replica: int) -> None:
    """A clean election, for whatever reason: the old leader failed, or leaders are balanced."""
    decide(s, replica, quorum_isr(s))


def epoch_limit(s: Any, c: AtomicSettings, replica: int) -> int:
    """Every leader epoch within the bounds may be given out already."""
    return EPOCHS if s.issued > s.epochs else WITHIN


def can_remove_from_isr(s: Any, c: AtomicSettings, replica: int) -> bool:
    """The controller takes a leader, or a member of the ISR, to have failed.

    Nothing happens to the replica itself: that covers one that is gone, one that stops and
    comes back, and one that never was away.
    """
    return quorum_leader(s) == replica or contains(quorum_isr(s), replica)


def remove_from_isr(s: Any, c: AtomicSettings, replica: int) -> None:
    """The replica leaves the ISR, unless it is the last member. A leader stops leading."""
    leader = quorum_leader(s)
    isr = quorum_isr(s)
    if leader == replica:
        if isr != with_member(0, replica):
            isr = without_member(isr, replica)
        decide(s, NO_REPLICA, isr)
    else:
        decide(s, leader, without_member(isr, replica))
