"""Leader epochs in a log: the epoch cache, which is read off it.

The epoch cache of a replica is the list of (epoch, first offset) of the records in its log. An
entry is made at the first write of an epoch, by a leader and by a follower alike
(LeaderEpochFileCache.assign), and truncation removes the entries that start at or above the cut.
Where epochs decrease along the log, which they should not, releases differ: up to 2.0.0 no entry
was made of an epoch that is not greater than all before it; since KAFKA-7415 its entry takes the
place of all that are not smaller.

Since KAFKA-7415, too, a leader makes its entry before it writes; until it does, or after it has
lost the leadership without having done so, that entry starts at its LEO.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.features import (
    EPOCH_ON_LEADING,
    FRESH_REMOTE_LEO_AFTER_GAP,
    TRUNCATE_AFTER_GAP,
    has,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import FETCHING, LEADER, NO_EPOCH, TRUNCATING


def is_next_epoch(newest: int, known: int) -> bool:
    """True if no epoch was between these two, the controller's and one that a broker knows."""
    return newest == known + 1


def sees_gaps(c: Settings) -> bool:
    """True if a rule uses `is_next_epoch`."""
    return has(c, TRUNCATE_AFTER_GAP) or has(c, FRESH_REMOTE_LEO_AFTER_GAP)


def epoch_at(s: Any, replica: int, offset: int) -> int:
    """The epoch of the record at `offset` of this log."""
    epoch: int = s.record_epoch[s.log[replica, offset] - 1]
    return epoch


def latest_epoch(s: Any, c: Settings, replica: int) -> int:
    """The last epoch in the replica's cache, NO_EPOCH when that is empty."""
    if has(c, EPOCH_ON_LEADING):
        unwritten = unwritten_epoch(s, replica)
        if unwritten != NO_EPOCH:
            return unwritten
        return epoch_at(s, replica, s.leo[replica] - 1) if s.leo[replica] > 0 else NO_EPOCH
    latest = NO_EPOCH
    for offset in range(s.leo[replica]):
        latest = max(latest, epoch_at(s, replica, offset))
    return latest


def last_fetched_epoch(s: Any, c: Settings, replica: int) -> int:
    """The epoch that a follower's next fetch carries: the last in its cache.

    But where its log was replaced by a future log, its fetcher goes on with the one of before
    (AbstractFetcherThread, PartitionFetchState.lastFetchedEpoch).
    """
    if c.future_log == 1 and s.role[replica] in (TRUNCATING, FETCHING):
        if s.fetched_epoch[replica] != NO_EPOCH:
            epoch: int = s.fetched_epoch[replica]
            return epoch
    return latest_epoch(s, c, replica)


def floor_and_end(
    s: Any, c: Settings, replica: int, requested: int, latest: int
) -> tuple[int, int]:
    """The largest epoch among the entries that is not larger than `requested`, and its end.

    `requested` is smaller than the `latest`. The epoch is NO_EPOCH if all are larger. It ends where
    the next larger one begins.
    """
    if has(c, EPOCH_ON_LEADING):
        return entry_and_end(s, replica, requested, latest)
    floor = NO_EPOCH
    end = s.leo[replica]
    for offset in range(s.leo[replica]):
        epoch = epoch_at(s, replica, offset)
        if epoch > requested:
            end = offset
            break
        floor = max(floor, epoch)
    return floor, end


def entry_and_end(s: Any, replica: int, requested: int, latest: int) -> tuple[int, int]:
    """As `floor_and_end`, for a cache where an entry replaces all that are not smaller.

    Read from the end of the log, an epoch smaller than all after it has an entry, which begins with
    its last run of records.
    """
    least = latest
    end = s.leo[replica]
    for offset in range(s.leo[replica] - 1, -1, -1):
        epoch = epoch_at(s, replica, offset)
        if epoch <= requested:
            return epoch, end
        if epoch < least:
            least = epoch
            end = offset
        elif epoch == least and end == offset + 1:
            end = offset
    return NO_EPOCH, end


def unwritten_epoch(s: Any, replica: int) -> int:
    """The last epoch in the cache if no record has it: led in, and nothing written.

    A leader may have lost it as its log was moved (`model.message.directories.move_directory`).
    """
    unwritten = NO_EPOCH
    if s.role[replica] == LEADER:
        if s.entry_lost[replica] == 0:
            unwritten = s.known_epoch[replica]
    elif s.role[replica] == TRUNCATING or s.role[replica] == FETCHING:
        unwritten = s.cached_epoch[replica]
    if s.leo[replica] > 0 and epoch_at(s, replica, s.leo[replica] - 1) == unwritten:
        return NO_EPOCH
    return unwritten


def epoch_start(s: Any, leader: int) -> int:
    """The start of the leader's own epoch: its first record of it, or its LEO while it has none."""
    for offset in range(s.leo[leader]):
        if epoch_at(s, leader, offset) == s.known_epoch[leader]:
            return offset
    end: int = s.leo[leader]
    return end
