"""Leader epochs in a log: the epoch cache, which is read off it.

The epoch cache of a replica is the list of (epoch, first offset) of the records in its log, taking
only epochs greater than all before them: an entry is made at the first write of an epoch, by a
leader and by a follower alike (LeaderEpochFileCache.assign), and truncation removes the entries
that start at or above the cut. Since KAFKA-7415 a leader makes its entry before it writes; until it
does, or after it has lost the leadership without having done so, that entry starts at its LEO.
"""

from __future__ import annotations

from typing import Any

from model.message.features import EPOCH_ON_LEADING, has
from model.message.settings import Settings
from model.message.terms import FETCHING, LEADER, NO_EPOCH, TRUNCATING


def epoch_at(s: Any, replica: int, offset: int) -> int:
    """The epoch in which the record at `offset` of this log was written."""
    epoch: int = s.record_epoch[s.log[replica, offset] - 1]
    return epoch


def latest_epoch(s: Any, c: Settings, replica: int) -> int:
    """The last epoch in the replica's cache, NO_EPOCH when that is empty."""
    latest = NO_EPOCH
    for offset in range(s.leo[replica]):
        latest = max(latest, epoch_at(s, replica, offset))
    if has(c, EPOCH_ON_LEADING):
        if s.role[replica] == LEADER:
            latest = max(latest, s.known_epoch[replica])
        elif s.role[replica] == TRUNCATING or s.role[replica] == FETCHING:
            latest = max(latest, s.cached_epoch[replica])
    return latest


def floor_and_end(s: Any, replica: int, requested: int) -> tuple[int, int]:
    """The largest epoch with records that is not larger than `requested`, and where it ends.

    NO_EPOCH for the first where all are larger. It ends where the first larger one begins, or at
    the LEO.
    """
    floor = NO_EPOCH
    end = s.leo[replica]
    for offset in range(s.leo[replica]):
        epoch = epoch_at(s, replica, offset)
        if epoch > requested:
            end = offset
            break
        floor = max(floor, epoch)
    return floor, end


def unwritten_epoch(s: Any, replica: int) -> int:
    """The last epoch in the cache if no record has it: led in, and nothing written."""
    unwritten = NO_EPOCH
    if s.role[replica] == LEADER:
        unwritten = s.known_epoch[replica]
    elif s.role[replica] == TRUNCATING or s.role[replica] == FETCHING:
        unwritten = s.cached_epoch[replica]
    for offset in range(s.leo[replica]):
        if epoch_at(s, replica, offset) >= unwritten:
            return NO_EPOCH
    return unwritten


def epoch_start(s: Any, leader: int) -> int:
    """Where the leader's own epoch begins: its first record of it, or its LEO while it has none."""
    for offset in range(s.leo[leader]):
        if epoch_at(s, leader, offset) == s.known_epoch[leader]:
            return offset
    end: int = s.leo[leader]
    return end
