"""Once brokers are started again, a partition that is led can take acks=all writes.

Not by writing: records are bounded, and one more would be cut. What a write needs is looked at: a
leader that knows the ISR, which is large enough, and whose members all run and fetch from it.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.way_back import BY, is_follower_of, is_led
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State
from waterline.model.message.terms import FETCHING, NO_REPLICA, contains, size


def takes_part(s: Any, leader: int, replica: int) -> bool:
    """True if a member of the ISR will report to the leader that it has what is written."""
    if replica == leader:
        return True
    return is_follower_of(s, replica, leader) and s.role[replica] == FETCHING


def good(s: Any, c: Any) -> bool:
    """The leader would take an acks=all record, and every replica that it waits for has fetched."""
    leader = current_leader(s)
    if leader == NO_REPLICA or s.known_isr[leader] != s.isr:
        return False
    if size(s.isr) < c.min_insync_replicas:
        return False
    for replica in range(s.replicas):
        if contains(s.isr, replica) and not takes_part(s, leader, replica):
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the replica that does not take part, or the number in sync."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return "Nobody leads."
    if size(s.isr) < c.min_insync_replicas:
        return (
            f"{size(s.isr)} of {c.min_insync_replicas} replicas are in sync: r{leader} refuses "
            "acks=all."
        )
    if s.known_isr[leader] != s.isr:
        return f"r{leader} does not know the ISR that the controller has."
    idle = [r for r in range(s.replicas) if contains(s.isr, r) and not takes_part(s, leader, r)]
    named = ", ".join(f"r{r}" for r in idle) or "none"
    return f"r{leader} waits for everybody in the ISR, and {named} of them does not fetch from it."


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=good,
    explain=explain,
    by=BY,
    when=is_led,
    remark="The leader knows an ISR of at least min.insync.replicas, whose members all fetch from "
    "it. A partition without a leader is `leader_again`'s.",
    rank=310,
)
