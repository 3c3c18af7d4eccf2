"""The current leader commits nothing before every candidate for its place has it.

A record is committed once all of the leader's ISR have it, including replicas that it has asked to
add ("maximal ISR", KIP-497). Were the controller's ISR or ELR larger, a replica without the record
might be elected. Not claimed while the ISR is smaller than min.insync.replicas: then the ELR may
hold others, and the high watermark stands still (KIP-966).
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, brokers_in
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas, leader_min_isr
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.terms import NO_REPLICA, contains, size


def not_waited_for(s: Any, c: Any) -> int:
    """The candidates that the current leader does not wait for."""
    leader = current_leader(s)
    if leader == NO_REPLICA or size(s.known_isr[leader]) < leader_min_isr(s, c, leader):
        return 0
    return (s.isr | s.elr) & assigned_replicas(s, c) & ~counted_isr(s, c, leader)


def holds(s: Any, c: Any) -> bool:
    """The leader waits for every candidate."""
    return bool(not_waited_for(s, c) == 0)


def explain(s: State, c: Any) -> str:
    """Name the candidate that the leader does not wait for."""
    left_out = not_waited_for(s, c)
    for replica in range(s.replicas):
        if contains(left_out, replica):
            return f"r{replica} may be elected, and leader r{s.leader} does not wait for it."
    return "The leader waits for every candidate."


def where(s: State, c: Any) -> Breaking:
    """Locate the leader and the candidates left out, for a picture."""
    return Breaking((current_leader(s), *brokers_in(s, not_waited_for(s, c))))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    where=where,
    reasons=("joins_without",),
    remark="Not said while its ISR is smaller than min.insync.replicas.",
    rank=140,
)
