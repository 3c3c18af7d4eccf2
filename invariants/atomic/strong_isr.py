"""All of the quorum ISR has every leader's records below its HW.

Whatever any leader, stale or not, has exposed to a consumer is on every replica that can be elected
cleanly: no election loses it. Says nothing of replicas outside the ISR.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.atomic.exposed import first_exposed, first_without, lacking
from waterline.invariants.breaking import Breaking
from waterline.model.atomic.state import quorum_isr
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """No member of the quorum ISR lacks a record below any leader's high watermark."""
    isr = quorum_isr(s)
    for leader in range(s.replicas):
        if first_without(s, leader, isr) != NO_REPLICA:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the leader, the member of the ISR, and the offset."""
    for leader in range(s.replicas):
        replica = first_without(s, leader, quorum_isr(s))
        if replica != NO_REPLICA:
            return f"{lacking(s, leader, replica)} r{replica} is in the quorum ISR."
    return "The quorum ISR has whatever a leader has exposed."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing record for a picture."""
    pairs = ((leader, first_without(s, leader, quorum_isr(s))) for leader in range(s.replicas))
    return first_exposed(s, pairs)


CLAIM = Invariant(*headline(__name__, __doc__), holds=holds, explain=explain, where=where)
