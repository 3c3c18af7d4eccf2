"""A broker's process: it checkpoints its high watermark, crashes, and starts again.

A crash of the process alone loses memory and keeps the log: the page cache survives.
"""

from __future__ import annotations

from typing import Any

from model import limits
from model.controller import elect, next_leader
from model.roles import drop_fetch, follows, forget_lost_records, lay_down_role
from model.settings import Settings
from model.terms import (
    IDLE,
    NO_EPOCH,
    NO_REPLICA,
    UNNOTICED_ANY,
    UNNOTICED_FOLLOWER,
    contains,
    without_member,
)


def can_checkpoint(s: Any, c: Settings, replica: int) -> bool:
    """The high watermark differs from the one on disk."""
    return s.up[replica] == 1 and s.checkpoint[replica] != s.hw[replica]


def checkpoint(s: Any, c: Settings, replica: int) -> None:
    """Write the high watermark to disk (the highwatermark-checkpoint thread)."""
    s.checkpoint[replica] = s.hw[replica]


def can_crash(s: Any, c: Settings, replica: int) -> bool:
    """Any running process may crash."""
    return s.up[replica] == 1


def crash_limit(s: Any, c: Settings, replica: int) -> int:
    """The environment has a budget of process crashes."""
    return limits.WITHIN if s.restarts_used < c.restarts else limits.RESTARTS


def crash(s: Any, c: Settings, replica: int) -> None:
    """The process dies: memory and connections are lost, log and checkpoint stay."""
    s.restarts_used = s.restarts_used + 1
    stop(s, replica)


def stop(s: Any, replica: int) -> None:
    """The process is gone, and with it every fetch to it or from it, asked or answered."""
    lay_down_role(s, replica)
    s.up[replica] = 0
    s.hw[replica] = 0
    s.known_epoch[replica] = NO_EPOCH
    for follower in range(s.replicas):
        if follows(s, follower) and s.known_leader[follower] == replica:
            if s.fetch[follower] != IDLE:
                drop_fetch(s, follower)
    forget_lost_records(s)


def can_restart(s: Any, c: Settings, replica: int) -> bool:
    """A broker that the controller has seen go, or one whose absence it may miss.

    A restart within the session timeout goes unnoticed; which replicas may do that is the setting
    restart detection. "Follower" is whoever is not the controller's leader.
    """
    if s.up[replica] == 1:
        return False
    if contains(s.fenced, replica) or c.restart_detection == UNNOTICED_ANY:
        return True
    return c.restart_detection == UNNOTICED_FOLLOWER and s.leader != replica


def restart_limit(s: Any, c: Settings, replica: int) -> int:
    """A restart that brings back a leader starts an epoch."""
    if s.leader == NO_REPLICA and s.epoch == s.epochs:
        if next_leader(s, c, without_member(s.fenced, replica)) != NO_REPLICA:
            return limits.EPOCHS
    return limits.WITHIN


def restart(s: Any, c: Settings, replica: int) -> None:
    """Start from disk: HW := min(checkpoint, LEO) (Partition.getOrCreateReplica).

    The broker registers; a partition without a leader may now have one.
    """
    s.up[replica] = 1
    s.hw[replica] = min(s.checkpoint[replica], s.leo[replica])
    s.fenced = without_member(s.fenced, replica)
    if s.leader == NO_REPLICA:
        winner = next_leader(s, c, s.fenced)
        if winner != NO_REPLICA:
            s.epoch = s.epoch + 1
            elect(s, winner)
