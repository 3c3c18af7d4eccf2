"""A running broker rejoins the ISR if the partition has a leader that stays.

It may leave again. The awaited moment has all running brokers in sync: of several followers each
may come back and leave before the next does. The claim does not wait for a broker that is down, or
goes down: `isr_whole_again` covers one that ends its process whenever it fetches.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.terms import NO_REPLICA, contains


def stays_out(s: Any, c: Any, replica: int) -> bool:
    """True if a replica runs, does not shut down, and is not in the ISR."""
    if s.up[replica] == 0 or contains(s.stopping | ~assigned_replicas(s, c), replica):
        return False
    return not contains(s.isr, replica)


def out(s: Any, c: Any) -> bool:
    """The partition has a leader, and a running broker is out of sync."""
    if current_leader(s) == NO_REPLICA:
        return False
    for replica in range(s.replicas):
        if stays_out(s, c, replica):
            return True
    return False


def back(s: Any, c: Any) -> bool:
    """No running broker is out of sync, or the partition has no leader."""
    return not out(s, c)


def explain(s: State, c: Any) -> str:
    """Name the broker that stays out, and say how far it is."""
    leader = current_leader(s)
    for replica in range(s.replicas):
        if leader != NO_REPLICA and stays_out(s, c, replica):
            reached = s.remote_leo[leader, replica]
            return (
                f"r{replica} runs with LEO {s.leo[replica]} and is not in the ISR; leader r{leader}"
                f" has HW {s.hw[leader]} and "
                f"{f'has seen it at {reached}' if reached >= 0 else 'has seen no fetch of it'}."
            )
    return "Everybody who runs is in sync."


def outside(seen: Seen) -> bool:
    """Every broker that runs is in the ISR."""
    return set(seen.logs) <= seen.in_sync


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.LEADS_TO,
    when=out,
    then=back,
    explain=explain,
    outside=outside,
    remark="Brokers that are down need not come back. It may leave again: with three replicas this "
    "breaks until KAFKA-7152, where two that have caught up may be found lagging in turn for ever.",
    rank=450,
)
