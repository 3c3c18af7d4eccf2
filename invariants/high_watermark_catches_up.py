"""The current leader's high watermark does not stay behind its log.

It may fall behind again and again, as long as producers write. The claim says nothing once another
broker leads, or none.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA, contains, size


def behind(s: Any, c: Any) -> bool:
    """The current leader has records that are not committed."""
    leader = current_leader(s)
    return leader != NO_REPLICA and s.hw[leader] < s.leo[leader]


def caught_up(s: Any, c: Any) -> bool:
    """All records of the current leader are committed, or the partition has no leader."""
    return not behind(s, c)


def explain(s: State, c: Any) -> str:
    """Name the replicas, or their number, that the high watermark waits for."""
    leader = current_leader(s)
    if not behind(s, c):
        return "Everything that the leader has is committed."
    isr = [f"r{r}" for r in range(s.replicas) if contains(s.known_isr[leader], r)]
    few = size(s.known_isr[leader]) < c.min_insync_replicas
    return (
        f"r{leader} has HW {s.hw[leader]} and LEO {s.leo[leader]}; its ISR is {', '.join(isr)}"
        f"{f', fewer than min.insync.replicas={c.min_insync_replicas}' if few else ''}."
    )


def outside(seen: Seen) -> bool:
    """The leader's high watermark is at the end of its log."""
    return seen.high_watermark == seen.log_end


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.LEADS_TO,
    when=behind,
    then=caught_up,
    explain=explain,
    outside=outside,
    remark="Brokers that are down need not come back. Says nothing while nobody leads.",
    rank=410,
)
