"""Every running member of the current leader's ISR has every committed record.

The ISR as the leader has it, less the brokers that are down; only of a leader that knows the
controller's latest decision. It is about replication where `candidates_complete` is about election.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, lacks_committed
from waterline.invariants.completeness import first_incomplete, missing
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """Every running member of the current leader's ISR is complete."""
    leader = current_leader(s)
    if leader == NO_REPLICA or s.outdated[leader] == 1:
        return True
    return first_incomplete(s, s.known_isr[leader]) < 0


def explain(s: State, c: Any) -> str:
    """Name the incomplete member, and what it lacks."""
    leader = current_leader(s)
    replica = first_incomplete(s, s.known_isr[leader])
    if replica < 0:
        return "Every member is complete."
    return f"Leader r{leader} counts r{replica} as in sync, which lacks {missing(s, replica)}."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing record for a picture."""
    leader = current_leader(s)
    found = lacks_committed(s, first_incomplete(s, s.known_isr[leader]))
    return Breaking((leader, *found.brokers), found.offsets, found.records)


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    where=where,
    reasons=("joins_without",),
    remark="WeakIsr. As the leader has the ISR, unless that is outdated.",
    rank=130,
)
