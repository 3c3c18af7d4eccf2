"""Every running replica in the controller's ISR and ELR has every committed record.

The ISR and the ELR as the controller has them, less the brokers that are down. It breaks several
steps before a committed record is lost: the election is still to come. A machine that lost power
and came back with less than it had breaks it, until it has left the ISR.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, lacks_committed
from waterline.invariants.completeness import first_incomplete, missing
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas


def candidates(s: Any, c: Any) -> int:
    """The replicas in ISR and ELR; a broker that is not a replica is not elected from the ELR."""
    members: int = (s.isr | s.elr) & assigned_replicas(s, c)
    return members


def holds(s: Any, c: Any) -> bool:
    """Every running replica in ISR and ELR is complete."""
    return first_incomplete(s, candidates(s, c)) < 0


def explain(s: State, c: Any) -> str:
    """Name the incomplete candidate, and what it lacks."""
    replica = first_incomplete(s, candidates(s, c))
    if replica < 0:
        return "Every candidate is complete."
    return f"r{replica} may be elected and lacks {missing(s, replica)}."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing record for a picture."""
    return lacks_committed(s, first_incomplete(s, candidates(s, c)))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    where=where,
    reasons=("joins_without",),
    remark="StrongIsr. Breaks steps before a loss. Does not say that somebody is elected.",
    rank=120,
)
