"""All of a leader's own ISR has the leader's records below its HW.

Weak, because no election uses a leader's own view of the ISR: a stale leader's view may be wrong
without any loss. `strong_isr` claims that the current ISR has the records; neither implies the
other.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.atomic.exposed import first_exposed, first_without, lacking
from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """No member of any leader's own ISR lacks a record below that leader's high watermark."""
    for leader in range(s.replicas):
        if first_without(s, leader, s.known_isr[leader]) != NO_REPLICA:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the leader, the member of its ISR, and the offset."""
    for leader in range(s.replicas):
        replica = first_without(s, leader, s.known_isr[leader])
        if replica != NO_REPLICA:
            return f"{lacking(s, leader, replica)} r{leader} counts r{replica} as in sync."
    return "Every leader's own ISR has what the leader has exposed."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing record for a picture."""
    pairs = (
        (leader, first_without(s, leader, s.known_isr[leader])) for leader in range(s.replicas)
    )
    return first_exposed(s, pairs)


CLAIM = Invariant(*headline(__name__, __doc__), holds=holds, explain=explain, where=where)
