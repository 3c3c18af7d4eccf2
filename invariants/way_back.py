"""Recovery of a cluster without an operator: the steps that claims about recovery allow.

They are the ordinary steps of brokers, controller and network, once faults have stopped and a
supervisor has restarted every broker that is down. No operator decides anything.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.model.message.contents import ACTIONS
from waterline.model.message.roles import follows
from waterline.model.message.terms import NO_REPLICA

BY = (*(action.name for action in ACTIONS if action.weakly_fair), "Restart")
"""Names of the steps. With unclean.leader.election.enable the controller may elect uncleanly."""


def is_led(s: Any, c: Any) -> bool:
    """True if the partition has a current leader."""
    return current_leader(s) != NO_REPLICA


def is_follower_of(s: Any, follower: int, leader: int) -> bool:
    """True if a broker runs and follows this one in the same epoch."""
    if not follows(s, follower) or s.known_leader[follower] != leader:
        return False
    return bool(s.known_epoch[follower] == s.known_epoch[leader])


def first_apart(s: Any, leader: int, follower: int, end: int) -> int:
    """Return the least offset below `end` where a log differs from the leader's; -1 for none."""
    for offset in range(end):
        if s.log[follower, offset] != s.log[leader, offset]:
            return offset
    return -1
