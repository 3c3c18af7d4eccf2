"""Every broker that runs comes to know the controller's latest decision.

That includes the decision to have no leader. With ZooKeeper brokers do not hear of that
(LeaderAndIsr always names a leader), and a follower goes on asking a leader that is gone.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Pattern, Temporal, headline
from waterline.model.core.state import State
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.terms import NO_REPLICA, contains


def is_behind(s: Any, c: Any, replica: int) -> bool:
    """True if a replica runs in an epoch of the past."""
    if s.up[replica] == 0 or not contains(assigned_replicas(s, c), replica):
        return False
    return bool(s.known_epoch[replica] < s.epoch)


def all_know_epoch(s: Any, c: Any) -> bool:
    """All that run know the epoch."""
    for replica in range(s.replicas):
        if is_behind(s, c, replica):
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the broker, and the decision that it does not know."""
    for replica in range(s.replicas):
        if is_behind(s, c, replica):
            who = "nobody leads" if s.leader == NO_REPLICA else f"r{s.leader} leads"
            knows = s.known_epoch[replica]
            return (
                f"In epoch {s.epoch} {who}; r{replica} "
                f"{'has heard of no epoch' if knows < 0 else f'goes by epoch {knows}'}."
            )
    return "Everybody knows."


CLAIM = Temporal(
    *headline(__name__, __doc__),
    pattern=Pattern.ALWAYS_EVENTUALLY,
    then=all_know_epoch,
    explain=explain,
    remark="Every LeaderAndIsr is acted on; and under KRaft also that nobody leads.",
    rank=440,
)
