"""Leader epochs in a log, and the question OffsetForLeaderEpoch (KIP-101).

The epoch cache of a replica is the list of (epoch, first offset) of the records in its log, taking
only epochs greater than all before them: an entry is made at the first write of an epoch, by a
leader and by a follower alike (0.11 LeaderEpochFileCache.assign), and truncation removes the
entries that start at or above the cut.
"""

from __future__ import annotations

from typing import Any

from model.terms import NO_EPOCH, UNKNOWN_OFFSET


def epoch_at(s: Any, replica: int, offset: int) -> int:
    """The epoch in which the record at `offset` of this log was written."""
    epoch: int = s.record_epoch[s.log[replica, offset] - 1]
    return epoch


def latest_epoch(s: Any, replica: int) -> int:
    """The last epoch in the replica's cache, NO_EPOCH when that is empty."""
    latest = NO_EPOCH
    for offset in range(s.leo[replica]):
        latest = max(latest, epoch_at(s, replica, offset))
    return latest


def end_offset_for(s: Any, replica: int, requested: int) -> int:
    """Where epoch `requested` ends in this replica's log, as KIP-101 answers in 0.11.

    The replica's LEO if `requested` is its latest epoch (both may be NO_EPOCH: an empty cache
    answers an empty one with the LEO). Otherwise the start of the smallest larger epoch, and
    UNKNOWN_OFFSET where there is none larger or `requested` is before the first.
    """
    if requested == latest_epoch(s, replica):
        end: int = s.leo[replica]
        return end
    first = NO_EPOCH
    for offset in range(s.leo[replica]):
        epoch = epoch_at(s, replica, offset)
        if first == NO_EPOCH:
            first = epoch
        if epoch > requested:
            return UNKNOWN_OFFSET if requested < first else offset
    return UNKNOWN_OFFSET
