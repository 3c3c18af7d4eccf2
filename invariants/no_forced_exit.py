"""No broker ends its process because its log is longer than its leader's.

Up to Kafka 2.0.0 a follower that finds its offset out of range does, unless unclean election is on
(KAFKA-7414). That loses no record, but the cluster has a broker less; so it is checked only if
requested.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import ActionProperty, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA, contains


def first_exit(s: Any, t: Any) -> int:
    """The broker that goes down, and neither by a fault nor at the end of its shutdown."""
    if s.restarts_used != t.restarts_used or s.power_losses_used != t.power_losses_used:
        return NO_REPLICA
    if s.lost_disks_used != t.lost_disks_used:
        return NO_REPLICA
    if s.failed_directories_used != t.failed_directories_used:
        return NO_REPLICA
    for r in range(s.replicas):
        if s.up[r] == 1 and t.up[r] == 0 and not contains(s.stopping, r):
            return r
    return NO_REPLICA


def keeps(s: Any, t: Any, c: Any) -> bool:
    """No broker exits in this step."""
    return first_exit(s, t) == NO_REPLICA


def explain(s: State, t: State, c: Any) -> str:
    """Name the broker that exits, and the reason."""
    r = first_exit(s, t)
    if r == NO_REPLICA:
        return "No broker exits."
    return (
        f"r{r} has {s.leo[r]} records, its leader r{s.known_leader[r]} answered that it ends at "
        f"{s.answer_offset[r]}, and r{r} ends its process."
    )


def where(s: State, t: State, c: Any) -> Breaking:
    """Locate the records beyond the leader's end for a picture."""
    replica = first_exit(s, t)
    beyond = range(s.answer_offset[replica], s.leo[replica])
    return Breaking((replica,), tuple(beyond), tuple(s.log[replica, o] for o in beyond))


CLAIM = ActionProperty(
    *headline(__name__, __doc__),
    keeps=keeps,
    explain=explain,
    default=False,
    where=where,
    reasons=("answered_out_of_range",),
    remark="A claim about steps, on request. Does not say that data is lost by it: none is.",
    rank=190,
)
