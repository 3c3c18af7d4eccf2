"""The quorum has a leader, and it is in the ISR.

As published, and so false from the start: before the first election the quorum has no leader. The
intended claim is `elected_leader_in_isr`.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.state import quorum_isr, quorum_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA, contains


def holds(s: Any, c: Any) -> bool:
    """The quorum has a leader, and the leader is in the ISR."""
    leader = quorum_leader(s)
    return leader != NO_REPLICA and contains(quorum_isr(s), leader)


def explain(s: State, c: Any) -> str:
    """Name the leader outside the ISR, or say that none exists."""
    leader = quorum_leader(s)
    if leader == NO_REPLICA:
        return "The quorum has no leader."
    if contains(quorum_isr(s), leader):
        return f"Leader r{leader} is in the ISR."
    return f"Leader r{leader} is not in the ISR."


CLAIM = Invariant(*headline(__name__, __doc__), holds=holds, explain=explain)
