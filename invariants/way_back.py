"""How a cluster comes back by itself: the steps that claims about recovery allow.

What brokers, controller and network do anyway, once faults have stopped and every broker that is
down is started again, by its supervisor. Nothing that an operator decides.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.model.message.contents import ACTIONS
from waterline.model.message.roles import follows
from waterline.model.message.terms import NO_REPLICA

BY = (*(action.name for action in ACTIONS if action.weakly_fair), "Restart")
"""With unclean.leader.election.enable the controller's own steps may elect uncleanly."""


def is_led(s: Any, c: Any) -> bool:
    """Whether there is a current leader."""
    return current_leader(s) != NO_REPLICA


def is_follower_of(s: Any, follower: int, leader: int) -> bool:
    """Whether a broker runs and follows this one in the same epoch."""
    if not follows(s, follower) or s.known_leader[follower] != leader:
        return False
    return bool(s.known_epoch[follower] == s.known_epoch[leader])


def first_apart(s: Any, leader: int, follower: int, end: int) -> int:
    """Return the least offset below `end` where a log differs from the leader's; -1 for none."""
    for offset in range(end):
        if s.log[follower, offset] != s.log[leader, offset]:
            return offset
    return -1
