"""Leader epochs in a log, and the question OffsetForLeaderEpoch (KIP-101, KIP-279).

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
from model.message.terms import (
    FETCHING,
    LEADER,
    NO_EPOCH,
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATING,
    UNKNOWN_OFFSET,
)


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


def end_offset_for(s: Any, c: Settings, replica: int, requested: int) -> tuple[int, int]:
    """Where epoch `requested` ends in this replica's log: (the epoch meant, its end offset).

    The replica's LEO if `requested` is its latest epoch. Otherwise the start of the smallest larger
    epoch, and the largest epoch that is not larger than `requested`. (NO_EPOCH, UNKNOWN_OFFSET)
    where there is none larger. Before its first epoch: undefined up to 2.0.0; since KAFKA-7415
    `requested` itself, ending where the first begins. In 0.11 an empty cache that is asked for
    no epoch answers with the LEO. (LeaderEpochFileCache.endOffsetFor)
    """
    if requested == NO_EPOCH and c.truncation != TRUNCATE_BY_EPOCH:
        return NO_EPOCH, UNKNOWN_OFFSET
    latest = latest_epoch(s, c, replica)
    if requested == latest:
        return requested, s.leo[replica]
    if requested > latest:
        return NO_EPOCH, UNKNOWN_OFFSET
    floor = NO_EPOCH
    end = s.leo[replica]
    for offset in range(s.leo[replica]):
        epoch = epoch_at(s, replica, offset)
        if epoch > requested:
            end = offset
            break
        floor = max(floor, epoch)
    if floor != NO_EPOCH:
        return floor, end
    if c.truncation == TRUNCATE_BY_EPOCH or c.truncation == TRUNCATE_BY_EPOCHS_2_0:
        return NO_EPOCH, UNKNOWN_OFFSET
    return requested, end


def epoch_start(s: Any, leader: int) -> int:
    """Where the leader's own epoch begins: its first record of it, or its LEO while it has none."""
    for offset in range(s.leo[leader]):
        if epoch_at(s, leader, offset) == s.known_epoch[leader]:
            return offset
    end: int = s.leo[leader]
    return end
