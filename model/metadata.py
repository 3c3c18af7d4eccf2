"""A broker learns what the controller decided (LeaderAndIsr).

It always learns the latest decision; decisions in between are skipped, which is what a lost or late
request amounts to.
"""

from __future__ import annotations

from typing import Any

from model.high_watermark import advance_high_watermark
from model.roles import follows, forget_lost_records, lay_down_role, truncate
from model.settings import Settings
from model.terms import (
    FETCHING,
    LEADER,
    NO_REPLICA,
    TRUNCATE_TO_HIGH_WATERMARK,
    TRUNCATING,
)


def can_learn(s: Any, c: Settings, replica: int) -> bool:
    """A running broker has not seen the current leader epoch, and there is a leader to tell of."""
    return s.up[replica] == 1 and s.known_epoch[replica] < s.epoch and s.leader != NO_REPLICA


def learn(s: Any, c: Settings, replica: int) -> None:
    """Become leader, or follower, or carry on in the new epoch.

    (ReplicaManager.makeLeaders and makeFollowers)
    """
    if s.leader == replica:
        become_leader(s, c, replica)
    elif follows(s, replica) and s.known_leader[replica] == s.leader:
        # The leader is still the same broker: nothing is truncated, and a fetch in flight stays
        # valid, however many epochs were missed. KAFKA-7164, repaired in 2.0.1 and 2.1.0.
        s.known_epoch[replica] = s.epoch
    else:
        become_follower(s, c, replica)
    forget_lost_records(s)


def become_leader(s: Any, c: Settings, replica: int) -> None:
    """Lead in the current epoch; a new leader knows no follower's LEO yet.

    One that already led keeps what it knows (Partition.makeLeader, isNewLeader).
    """
    if s.role[replica] != LEADER:
        lay_down_role(s, replica)
        s.role[replica] = LEADER
    s.known_isr[replica] = s.isr
    s.known_epoch[replica] = s.epoch
    advance_high_watermark(s, c, replica)


def become_follower(s: Any, c: Settings, replica: int) -> None:
    """Follow the current leader: cut the log to the high watermark, or ask where to cut it."""
    lay_down_role(s, replica)
    s.known_epoch[replica] = s.epoch
    if c.truncation == TRUNCATE_TO_HIGH_WATERMARK:
        truncate(s, replica, s.hw[replica])
        s.role[replica] = FETCHING
    else:
        s.role[replica] = TRUNCATING
    s.known_leader[replica] = s.leader
