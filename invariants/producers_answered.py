"""A record produced with acks=all is acknowledged or refused, if its leader stays.

Not by a timeout: the model has none. Where this breaks the producer waits for delivery.timeout.ms
and learns nothing. A leader that goes takes the request with it; what becomes of one that has been
replaced and does not know it is `decisions_learned`'s.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.terms import ACKS_ALL, NO_REPLICA, contains


def waits(s: Any, c: Any) -> bool:
    """The current leader owes a producer an answer."""
    leader = current_leader(s)
    return leader != NO_REPLICA and s.unanswered[leader] != 0


def owes_none(s: Any, c: Any) -> bool:
    """The leader owes none. Records are bounded, so each is answered if this state comes."""
    return not waits(s, c)


def explain(s: State, c: Any) -> str:
    """Name the waiting records, and what their leader waits for."""
    if not waits(s, c):
        return "Nobody waits."
    leader = current_leader(s)
    ids = [f"m{b + 1}" for b in range(s.produced) if contains(s.unanswered[leader], b)]
    isr = [f"r{r}" for r in range(s.replicas) if contains(s.known_isr[leader], r)]
    return (
        f"r{leader} has HW {s.hw[leader]} and LEO {s.leo[leader]}, its ISR is {', '.join(isr)}: "
        f"{', '.join(ids)} is neither acknowledged nor refused."
    )


def applies(c: Any) -> bool:
    """True if a producer waits, which it does only with acks=all."""
    return bool(c.acks == ACKS_ALL)


def outside(seen: Seen) -> bool:
    """No producer waits for an acknowledgement."""
    return not seen.is_waiting


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.LEADS_TO,
    when=waits,
    then=owes_none,
    explain=explain,
    applies=applies,
    outside=outside,
    remark="Otherwise than by a timeout. Applies with acks=all.",
    rank=400,
)
