"""ISR and ELR are disjoint, the ELR is empty unless needed, no replica in sync is fenced.

The ELR is empty while the ISR is large enough. A fenced broker is in the ISR only if it is all of
it and the partition has no leader. With ZooKeeper nothing of this is promised, nor while replicas
are reassigned: with fewer of them an old ELR may stay.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, brokers_in
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.features import KRAFT, has
from waterline.model.message.terms import NO_REPLICA, size

VALID = 0
IN_BOTH = 1
ELR_NOT_NEEDED = 2
FENCED_IN_SYNC = 3

_DESCRIBED = {
    IN_BOTH: "A broker is in the ISR and in the ELR.",
    ELR_NOT_NEEDED: "The ISR has min.insync.replicas members and the ELR is not empty.",
    FENCED_IN_SYNC: "A fenced broker is in the ISR.",
}


def wrong(s: Any, c: Any) -> int:
    """The first thing wrong with ISR and ELR."""
    if s.isr & s.elr != 0:
        return IN_BOTH
    if s.elr != 0 and size(s.isr) >= c.min_insync_replicas:
        return ELR_NOT_NEEDED
    if s.isr & s.fenced != 0 and (size(s.isr) > 1 or s.leader != NO_REPLICA):
        return FENCED_IN_SYNC
    return VALID


def holds(s: Any, c: Any) -> bool:
    """ISR, ELR and fenced replicas fit together."""
    return bool(wrong(s, c) == VALID)


def explain(s: State, c: Any) -> str:
    """Describe the error in words."""
    return _DESCRIBED.get(wrong(s, c), "Nothing is wrong.")


def applies(c: Any) -> bool:
    """True if the controller keeps the ISR, and its min.insync.replicas does not change."""
    return has(c, KRAFT) and c.reassignments == 0


def where(s: State, c: Any) -> Breaking:
    """Locate the violating members for a picture."""
    return Breaking(brokers_in(s, s.isr & s.elr or s.isr & s.fenced or s.elr))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=applies,
    where=where,
    reasons=("distrusts", "leads_alone"),
    remark="But for the last one, without a leader. Applies under KRaft, without reassignments.",
    rank=150,
)
