"""What must be true of any cluster state at all, or the model itself is wrong.

HW <= LEO on every replica, no two leaders in one epoch, the controller's leader is in its ISR, the
ISR is never empty, a leader knows of no remote LEO beyond its own, and what is counted adds up.
"""

from __future__ import annotations

from typing import Any

from invariants.claim import Invariant
from model.state import State
from model.terms import LEADER, NO_RECORD, NO_REPLICA, contains

SANE = 0
HW_ABOVE_LEO = 1
TWO_LEADERS = 2
LEADER_OUTSIDE_ISR = 3
EMPTY_ISR = 4
REMOTE_LEO_BEYOND_LOG = 5
FUTURE_EPOCH = 6
MISCOUNTED = 7

_WORDS = (
    "nothing is wrong",
    "a high watermark is above the log end offset",
    "two brokers lead in the same epoch",
    "the controller's leader is not in its ISR",
    "the ISR is empty",
    "a leader believes that a follower has more than the leader itself",
    "a broker knows an epoch that the controller has not reached",
    "a log has a hole, or records that were never produced",
)


def wrong_with_replica(s: Any, r: int) -> int:
    """The first thing wrong with one replica."""
    if s.hw[r] > s.leo[r]:
        return HW_ABOVE_LEO
    if s.known_epoch[r] > s.epoch:
        return FUTURE_EPOCH
    for offset in range(s.records):
        present = s.log[r, offset] != NO_RECORD
        if present != (offset < s.leo[r]) or s.log[r, offset] > s.produced:
            return MISCOUNTED
    if s.role[r] == LEADER:
        for other in range(s.replicas):
            if s.remote_leo[r, other] > s.leo[r]:
                return REMOTE_LEO_BEYOND_LOG
            if other > r and s.role[other] == LEADER and s.known_epoch[other] == s.known_epoch[r]:
                return TWO_LEADERS
    return SANE


def wrong(s: Any) -> int:
    """The first thing wrong with the state."""
    if s.isr == 0:
        return EMPTY_ISR
    if s.leader != NO_REPLICA and not contains(s.isr, s.leader):
        return LEADER_OUTSIDE_ISR
    if s.exposed_end > s.produced or s.acked >> s.produced != 0:
        return MISCOUNTED
    for r in range(s.replicas):
        found = wrong_with_replica(s, r)
        if found != SANE:
            return found
    return SANE


def holds(s: Any, c: Any) -> bool:
    """Nothing is wrong."""
    return wrong(s) == SANE


def explain(s: State, c: Any) -> str:
    """What is wrong."""
    return _WORDS[wrong(s)].capitalize() + "."


CLAIM = Invariant(
    name="sane",
    sentence="HW <= LEO, one leader in an epoch, leader in ISR, ISR not empty, logs without holes.",
    holds=holds,
    explain=explain,
)
