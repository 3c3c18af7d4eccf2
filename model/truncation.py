"""Truncation by leader epoch: a new follower asks its leader where its own last epoch ends."""

from __future__ import annotations

from typing import Any

from model.epochs import end_offset_for, latest_epoch
from model.roles import forget_lost_records, truncate
from model.settings import Settings
from model.terms import FETCHING, LEADER, TRUNCATING, UNKNOWN_OFFSET


def can_offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> bool:
    """The broker that the follower knows as leader is up and believes so too.

    Nothing checks that both mean the same epoch (fencing came with KIP-320).
    """
    return s.role[follower] == TRUNCATING and s.role[s.known_leader[follower]] == LEADER


def offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> None:
    """Ask, and truncate to the answer; where it is undefined, to the high watermark.

    Request and answer are one step (ReplicaFetcherThread.maybeTruncate in 0.11).
    """
    leader = s.known_leader[follower]
    end = end_offset_for(s, leader, latest_epoch(s, follower))
    if end == UNKNOWN_OFFSET:
        end = s.hw[follower]
    truncate(s, follower, end)
    s.role[follower] = FETCHING
    forget_lost_records(s)
