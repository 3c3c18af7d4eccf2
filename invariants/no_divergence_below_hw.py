"""The current leader and its followers agree at every offset below both HWs.

A follower counts while it is up and fetching in the leader's epoch. One that is down, or has not
truncated yet, may still hold what it is about to remove: that does not count as divergence.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import logs_differ
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import FETCHING, NO_REPLICA


def first_difference(s: Any, leader: int, follower: int) -> int:
    """The least offset below both high watermarks where the two logs differ; -1 for none."""
    end = min(s.hw[leader], s.hw[follower])
    for offset in range(min(end, s.leo[leader], s.leo[follower])):
        if s.log[leader, offset] != s.log[follower, offset]:
            return offset
    return -1


def holds(s: Any, c: Any) -> bool:
    """No follower of the current leader differs from it below both high watermarks."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return True
    for follower in range(s.replicas):
        if s.role[follower] == FETCHING and s.known_epoch[follower] == s.known_epoch[leader]:
            if first_difference(s, leader, follower) >= 0:
                return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the two brokers, the offset, and the records there."""
    leader = current_leader(s)
    for follower in range(s.replicas):
        if s.role[follower] != FETCHING or s.known_epoch[follower] != s.known_epoch[leader]:
            continue
        offset = first_difference(s, leader, follower)
        if offset >= 0:
            return (
                f"At offset {offset} leader r{leader} has m{s.log[leader, offset]} and follower "
                f"r{follower} has m{s.log[follower, offset]}; both high watermarks are above it "
                f"({s.hw[leader]} and {s.hw[follower]}): the logs diverge."
            )
    return "No log diverges."


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    breach=Breach(
        word="diverges",
        sentence="logs differ below the high watermark",
        severity=5,
    ),
    reasons=("parts", "follows_beside"),
    outside=logs_differ,
    remark="Of followers that are up and fetch in its epoch. Says nothing about replicas "
    "that are down or have not truncated yet.",
    rank=60,
)
