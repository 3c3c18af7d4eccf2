"""Decisions of the controller. Each takes the next leader epoch and sends one request.

A LeaderAndIsr request is never lost for good and never used up: every replica may act, once and at
any later time, on any request that is newer than what it knows.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.quorum import quorum_isr, quorum_leader
from waterline.model.atomic.terms import EPOCHS, WITHIN, AtomicSettings
from waterline.model.message.terms import NO_REPLICA, contains, with_member, without_member


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
