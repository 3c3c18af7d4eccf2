"""Below a follower's remote LEO the follower has the same records as the leader.

The strongest claim about replication, and the first to break: from a remote LEO that is not true
the high watermark moves, and what it passes counts as committed. It says nothing about a follower
that has not learned the leader's epoch.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import FETCHING, NO_REPLICA


def first_false_offset(s: Any, leader: int, follower: int) -> int:
    """The least offset that the leader takes the follower to have as itself, wrongly; -1."""
    for offset in range(min(s.remote_leo[leader, follower], s.leo[leader])):
        if offset >= s.leo[follower] or s.log[leader, offset] != s.log[follower, offset]:
            return offset
    return -1


def is_follower(s: Any, leader: int, follower: int) -> bool:
    """True if the broker fetches from this leader in this very epoch."""
    if s.role[follower] != FETCHING or s.known_leader[follower] != leader:
        return False
    return bool(s.known_epoch[follower] == s.known_epoch[leader])


def holds(s: Any, c: Any) -> bool:
    """No follower of the current leader lacks what the leader takes it to have."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return True
    for follower in range(s.replicas):
        if is_follower(s, leader, follower) and first_false_offset(s, leader, follower) >= 0:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the follower, and what the leader wrongly believes about it."""
    leader = current_leader(s)
    for follower in range(s.replicas):
        if not is_follower(s, leader, follower):
            continue
        offset = first_false_offset(s, leader, follower)
        if offset >= 0:
            has = "nothing"
            if offset < s.leo[follower]:
                has = f"m{s.log[follower, offset]}"
            return (
                f"Leader r{leader} takes r{follower} to have all below "
                f"{s.remote_leo[leader, follower]}; at offset {offset} it has "
                f"m{s.log[leader, offset]} itself and r{follower} has {has}."
            )
    return "Every remote LEO is true."


def where(s: State, c: Any) -> Breaking:
    """Locate the false offset for a picture."""
    leader = current_leader(s)
    for follower in range(s.replicas):
        if is_follower(s, leader, follower):
            offset = first_false_offset(s, leader, follower)
            if offset >= 0:
                return Breaking((leader, follower), (offset,), (s.log[leader, offset],))
    return Breaking()


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    where=where,
    reasons=("promised_falsely", "wrongly_believed"),
    remark="Of followers that have learned the leader's epoch. The first to break.",
    rank=110,
)
