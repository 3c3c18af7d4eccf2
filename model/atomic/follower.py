"""Steps of a follower. Question and answer between two brokers are one step at this grain."""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.leader import has_replicated
from waterline.model.atomic.logs import cut, matching_end, same_epoch, truncation_end
from waterline.model.atomic.quorum import known_leader, leads
from waterline.model.atomic.terms import BY_LEADER_EPOCH, WHILE_FETCHING, AtomicSettings
from waterline.model.message.terms import NO_REPLICA


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
