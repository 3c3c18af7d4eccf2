"""HW <= LEO, one leader in an epoch, leader in ISR, ISR not empty, logs without holes.

HW <= LEO on every replica, no two leaders in one epoch, the controller's leader is in its ISR, the
ISR is never empty but under ELR, a leader knows of no remote LEO beyond its own, and what is
counted adds up.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.features import ELR, TRUNCATION_LOWERS_HW, has
from waterline.model.message.terms import LEADER, NO_RECORD, NO_REPLICA, contains

SANE = 0
HW_ABOVE_LEO = 1
TWO_LEADERS = 2
LEADER_OUTSIDE_ISR = 3
EMPTY_ISR = 4
REMOTE_LEO_BEYOND_LOG = 5
FUTURE_EPOCH = 6
MISCOUNTED = 7

_OF_THE_CONTROLLER = {
    LEADER_OUTSIDE_ISR: "The controller's leader is not in its ISR.",
    EMPTY_ISR: "The ISR is empty.",
    MISCOUNTED: "More is exposed or acknowledged than was produced.",
}
_OF_A_REPLICA = {
    HW_ABOVE_LEO: "has its high watermark above its log end offset",
    TWO_LEADERS: "leads in an epoch in which another broker leads too",
    REMOTE_LEO_BEYOND_LOG: "believes that a follower has more than it has itself",
    FUTURE_EPOCH: "knows an epoch that the controller has not reached",
    MISCOUNTED: "has a hole in its log, or a record that was never produced",
}


def wrong_with_replica(s: Any, c: Any, r: int) -> int:
    """The first thing wrong with one replica. Until 2.4 a follower's HW may be above its LEO."""
    if s.hw[r] > s.leo[r] and (s.role[r] == LEADER or has(c, TRUNCATION_LOWERS_HW)):
        return HW_ABOVE_LEO
    if s.known_epoch[r] > s.epoch:
        return FUTURE_EPOCH
    for offset in range(s.records):
        present = s.log[r, offset] != NO_RECORD
        is_unborn = c.unbounded == 0 and s.log[r, offset] > s.produced
        if present != (offset < s.leo[r]) or is_unborn:
            return MISCOUNTED
    if s.role[r] == LEADER:
        for other in range(s.replicas):
            if s.remote_leo[r, other] > s.leo[r]:
                return REMOTE_LEO_BEYOND_LOG
            if other > r and s.role[other] == LEADER and s.known_epoch[other] == s.known_epoch[r]:
                return TWO_LEADERS
    return SANE


def wrong_with_controller(s: Any, c: Any) -> int:
    """The first thing wrong with what belongs to no replica."""
    if s.isr == 0 and not has(c, ELR):
        return EMPTY_ISR
    if s.leader != NO_REPLICA and not contains(s.isr, s.leader):
        return LEADER_OUTSIDE_ISR
    # Without bounds `produced` counts the records that still are somewhere.
    if c.unbounded == 0 and (s.exposed_end > s.produced or s.acked >> s.produced != 0):
        return MISCOUNTED
    return SANE


def holds(s: Any, c: Any) -> bool:
    """The state has no error."""
    if wrong_with_controller(s, c) != SANE:
        return False
    for r in range(s.replicas):
        if wrong_with_replica(s, c, r) != SANE:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Describe the error, and name its broker."""
    if found := wrong_with_controller(s, c):
        return _OF_THE_CONTROLLER[found]
    for r in range(s.replicas):
        if found := wrong_with_replica(s, c, r):
            return f"r{r} {_OF_A_REPLICA[found]}."
    return "Nothing is wrong."


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    remark="The ISR may be empty under `elr`; no remote LEO is beyond the leader's own. Says "
    "nothing about Kafka: where it breaks, the model is wrong.",
    rank=170,
)
