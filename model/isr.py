"""The leader's changes to the ISR: a compare-and-set on the partition state in ZooKeeper.

The write succeeds only if the leader knows the current partition state. Before AlterPartition every
change by the controller raises the leader epoch, so knowing the current epoch is knowing the state.
"""

from __future__ import annotations

from typing import Any

from model.high_watermark import advance_high_watermark
from model.settings import Settings
from model.terms import LEADER, contains, with_member, without_member


def may_write_isr(s: Any, leader: int) -> bool:
    """Whether the compare-and-set of this leader would succeed."""
    return s.leader == leader and s.epoch == s.known_epoch[leader]


def expand_isr(s: Any, leader: int, follower: int) -> None:
    """A follower whose fetch reached the high watermark joins (Partition.maybeExpandIsr)."""
    if (
        not contains(s.known_isr[leader], follower)
        and s.remote_leo[leader, follower] >= s.hw[leader]
        and may_write_isr(s, leader)
    ):
        s.isr = with_member(s.isr, follower)
        s.known_isr[leader] = s.isr


def can_shrink_isr(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """A follower that is behind, or down, may be found lagging.

    Abstracts replica.lag.time.max.ms: a follower that has not caught up may exceed it at any time.
    """
    if leader == follower or s.role[leader] != LEADER:
        return False
    if not contains(s.known_isr[leader], follower) or not may_write_isr(s, leader):
        return False
    return s.up[follower] == 0 or s.remote_leo[leader, follower] < s.leo[leader]


def shrink_isr(s: Any, c: Settings, leader: int, follower: int) -> None:
    """It leaves the ISR, which may let the high watermark advance (Partition.maybeShrinkIsr)."""
    s.isr = without_member(s.isr, follower)
    s.known_isr[leader] = s.isr
    advance_high_watermark(s, c, leader)
