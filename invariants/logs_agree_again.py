"""Once brokers are started again, all logs of a led partition can become equal.

To the log's end, not to the high watermark alone: a high watermark that covers less hides for a
while that two logs have parted.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.invariants.way_back import BY, first_apart, is_led
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.terms import NO_REPLICA, contains


def good(s: Any, c: Any) -> bool:
    """Everybody runs and has every record that the leader has, and no other."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return False
    for replica in range(s.replicas):
        if contains(assigned_replicas(s, c), replica):
            if s.up[replica] == 0 or s.leo[replica] != s.leo[leader]:
                return False
            if first_apart(s, leader, replica, s.leo[leader]) >= 0:
                return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the log that parts from the leader's, and the offset."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return "Nobody leads."
    for replica in (r for r in range(s.replicas) if contains(assigned_replicas(s, c), r)):
        offset = first_apart(s, leader, replica, min(s.leo[leader], s.leo[replica]))
        if offset >= 0:
            return (
                f"At offset {offset} leader r{leader} has m{s.log[leader, offset]} and r{replica} "
                f"has m{s.log[replica, offset]}, and nothing makes r{replica} give it up."
            )
        if s.leo[replica] != s.leo[leader]:
            return (
                f"r{replica} ends at {s.leo[replica]}, leader r{leader} at {s.leo[leader]}, and "
                f"r{replica} does not come to end there."
            )
    return "The logs agree; not everybody runs."


def outside(seen: Seen) -> bool:
    """All replicas run, with equal logs."""
    logs = [list(log) for log in seen.logs.values()]
    return len(logs) == len(seen.replicas) and all(log == logs[0] for log in logs)


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=good,
    explain=explain,
    by=BY,
    when=is_led,
    outside=outside,
    remark="With the current leader's, to its end. A partition without a leader is "
    "`leader_again`'s.",
    rank=330,
)
