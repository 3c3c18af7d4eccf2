"""A follower of the current leader that asks where to cut its log gets to fetch.

KAFKA-10706 is a follower that gets an answer, changes nothing and asks again. A version that
truncates to the high watermark does not ask, so it has nothing to end.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.invariants.way_back import is_follower_of
from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.features import KRAFT, has
from waterline.model.message.terms import NO_REPLICA, TRUNCATING, contains
from waterline.model.message.truncation import keeps_epochs


def asks(s: Any, c: Any, follower: int, leader: int) -> bool:
    """True if a follower of the current leader does not know yet where to cut.

    With ZooKeeper a follower that is shutting down no longer asks.
    """
    if not is_follower_of(s, follower, leader) or s.role[follower] != TRUNCATING:
        return False
    return has(c, KRAFT) or not contains(s.stopping, follower)


def truncating(s: Any, c: Any) -> bool:
    """Some follower of the current leader does not know where to cut."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return False
    for follower in range(s.replicas):
        if asks(s, c, follower, leader):
            return True
    return False


def fetching(s: Any, c: Any) -> bool:
    """All know."""
    return not truncating(s, c)


def explain(s: State, c: Any) -> str:
    """Name the follower that asks."""
    leader = current_leader(s)
    for follower in range(s.replicas):
        if leader != NO_REPLICA and asks(s, c, follower, leader):
            return (
                f"r{follower} with LEO {s.leo[follower]} asks r{leader} with LEO {s.leo[leader]} "
                "where to cut its log, and does not get to fetch."
            )
    return "Every follower fetches."


def outside(seen: Seen) -> bool:
    """Every follower that runs has fetched."""
    return set(seen.logs) - {seen.leader} <= seen.fetched


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.LEADS_TO,
    when=truncating,
    then=fetching,
    explain=explain,
    applies=keeps_epochs,
    outside=outside,
    remark="KAFKA-10706. Does not apply to truncation to the HW, which asks nobody.",
    rank=430,
)
