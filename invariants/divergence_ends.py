"""A follower whose log parts from the current leader's comes to agree with it.

It truncates, and then its log does not part again: no divergence stays unnoticed, and no truncation
is undone without end. The claim says nothing while the leader changes, or the follower goes.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.invariants.way_back import first_apart, is_follower_of
from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def parts(s: Any, leader: int, follower: int) -> bool:
    """True if the follower's log is not a prefix of the leader's."""
    if s.leo[follower] > s.leo[leader]:
        return True
    return first_apart(s, leader, follower, s.leo[follower]) >= 0


def a_log_diverges(s: Any, c: Any) -> bool:
    """The log of some follower of the current leader parts from its own."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return False
    for follower in range(s.replicas):
        if is_follower_of(s, follower, leader) and parts(s, leader, follower):
            return True
    return False


def no_log_diverges(s: Any, c: Any) -> bool:
    """No follower's log diverges."""
    return not a_log_diverges(s, c)


def explain(s: State, c: Any) -> str:
    """Name the follower whose log parts from the leader's, and the offset."""
    leader = current_leader(s)
    for follower in range(s.replicas):
        if leader == NO_REPLICA or not is_follower_of(s, follower, leader):
            continue
        if not parts(s, leader, follower):
            continue
        offset = first_apart(s, leader, follower, min(s.leo[leader], s.leo[follower]))
        if offset < 0:
            return f"r{follower} ends at {s.leo[follower]}, its leader at {s.leo[leader]}."
        return (
            f"At offset {offset} leader r{leader} has m{s.log[leader, offset]} and r{follower}, "
            f"which follows it, has m{s.log[follower, offset]}."
        )
    return "Every follower's log is part of the leader's."


def outside(seen: Seen) -> bool:
    """Every log that runs is the leader's, as far as it goes."""
    whole = seen.logs.get(seen.leader, ())
    return all(log == whole[: len(log)] for log in seen.logs.values())


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.LEADS_TO,
    when=a_log_diverges,
    then=no_log_diverges,
    explain=explain,
    outside=outside,
    remark="Of followers that run and have learned its epoch; also of records above the HW.",
    rank=420,
)
