"""Once brokers are started again, the ISR of a led partition can be all replicas.

Of all, not of those that run now: a follower that ends its process whenever it fetches would else
never be missed.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.invariants.way_back import BY, is_led
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.terms import NO_REPLICA, contains


def good(s: Any, c: Any) -> bool:
    """Everybody runs and is in the ISR, which the leader knows."""
    leader = current_leader(s)
    if leader == NO_REPLICA or s.known_isr[leader] != s.isr:
        return False
    for replica in range(s.replicas):
        if contains(assigned_replicas(s, c), replica):
            if s.up[replica] == 0 or not contains(s.isr, replica):
                return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the replicas that stay out, and compare them with the leader."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return "Nobody leads."
    replicas = [r for r in range(s.replicas) if contains(assigned_replicas(s, c), r)]
    out = [r for r in replicas if s.up[r] == 0 or not contains(s.isr, r)]
    text = "; ".join(
        f"r{r} {'runs' if s.up[r] == 1 else 'is down'} with LEO {s.leo[r]}" for r in out
    )
    return (
        f"Leader r{leader} has LEO {s.leo[leader]} and HW {s.hw[leader]}; "
        f"{text or 'it does not know the ISR'}: they do not come to be in sync together."
    )


def outside(seen: Seen) -> bool:
    """All replicas are in the ISR."""
    return seen.in_sync == set(seen.replicas)


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=good,
    explain=explain,
    by=BY,
    when=is_led,
    outside=outside,
    remark="Breaks where a follower exits, is refused or asks on, however often it is started. A "
    "partition without a leader is `leader_again`'s.",
    rank=320,
)
