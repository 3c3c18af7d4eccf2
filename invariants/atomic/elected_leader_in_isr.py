"""The quorum's leader, while there is one, is in the ISR.

`leader_in_isr` without its accident: a partition without a leader breaks nothing.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.atomic import leader_in_isr
from waterline.model.atomic.state import quorum_isr, quorum_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA, contains


def holds(s: Any, c: Any) -> bool:
    """The leader, if there is one, is in the ISR."""
    leader = quorum_leader(s)
    return leader == NO_REPLICA or contains(quorum_isr(s), leader)


def explain(s: State, c: Any) -> str:
    """Name the leader outside the ISR."""
    return leader_in_isr.explain(s, c)


CLAIM = Invariant(*headline(__name__, __doc__), holds=holds, explain=explain)
