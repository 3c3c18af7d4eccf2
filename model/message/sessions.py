"""A broker and the controller lose sight of each other although the broker runs.

Its session expires: the controller takes it for down and goes on without it, while it does not know
and may still lead ("zombie"). It registers again sooner or later.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.controller import (
    elect,
    eligible,
    fence,
    leaves_a_choice,
    next_leader,
    unavailable,
)
from waterline.model.message.leaderless import hear_on_return
from waterline.model.message.partition_state import begin_epoch, has_room
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_REPLICA, contains, without_member


def can_expire_session(s: Any, c: Settings, replica: int) -> bool:
    """The broker runs, and the controller has its session."""
    if s.up[replica] == 0 or contains(unavailable(s), replica):
        return False
    return not leaves_a_choice(s, c, replica)


def expire_session(s: Any, c: Settings, replica: int) -> None:
    """The controller does what it does for a dead broker; the broker itself notices nothing."""
    fence(s, c, replica)


def can_register(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs that the controller takes for down."""
    return s.up[replica] == 1 and contains(s.fenced, replica)


def registration_limit(s: Any, c: Settings, replica: int) -> int:
    """The limit on epochs: bringing back a leader starts one."""
    return return_limit(s, c, replica, s.elr)


def return_limit(s: Any, c: Settings, replica: int, elr: int) -> int:
    """The limit that the controller would exceed by having the broker back, with this ELR.

    Unclean election always elects a leader: the broker itself, if it is the only one.
    """
    if s.leader == NO_REPLICA and not has_room(s, 1):
        if c.unclean_leader_election == 1 and contains(assigned_replicas(s, c), replica):
            return limits.EPOCHS
        if eligible(s, c, s.isr, elr, without_member(unavailable(s), replica)) != 0:
            return limits.EPOCHS
    return limits.WITHIN


def register(s: Any, c: Settings, replica: int) -> None:
    """The controller has the broker again; a partition without a leader may now have one."""
    hear_on_return(s, c, replica)
    s.fenced = without_member(s.fenced, replica)
    if s.leader == NO_REPLICA:
        winner = next_leader(s, c, unavailable(s))
        if winner != NO_REPLICA:
            begin_epoch(s, c)
            elect(s, c, winner)
