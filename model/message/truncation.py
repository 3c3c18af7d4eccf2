"""Truncation of a follower's log: five ways, and a version has exactly one.

To the high watermark (up to 0.10.2), by epoch (KIP-101, 0.11), by epochs as 2.0.0 had it, by epochs
(KIP-279, since 2.0.1), on fetch (KIP-595, since 2.8). Each has its own section below: a leader's
answer about an epoch, and where the follower then cuts. The rest of the model uses only the
functions before and after these sections. On fetch, and where an offset is out of range,
`model.message.fetch` cuts: `receive_diverging`, `receive_out_of_range`.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import floor_and_end, last_fetched_epoch, latest_epoch
from waterline.model.message.features import (
    FENCING,
    KRAFT,
    TRUNCATION_CLEARS_EPOCHS,
    TRUNCATION_LOWERS_HW,
    TRUNCATION_MARKS_FUTURE_LOG,
    has,
)
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    COPIES,
    FETCHING,
    LEADER,
    NO_EPOCH,
    NO_FUTURE_LOG,
    NO_RECORD,
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATE_ON_FETCH,
    TRUNCATE_TO_HIGH_WATERMARK,
    TRUNCATES,
    TRUNCATING,
    UNKNOWN_OFFSET,
    contains,
)


def truncate(s: Any, c: Settings, replica: int, end: int) -> None:
    """Cut the log at `end`, and what is kept about it.

    Of the epoch cache every entry goes that starts there or above: that of an epoch without records
    too. Until KAFKA-10706 that one stayed where no record was removed. Until 2.4 the high watermark
    was not the log's, and stayed where it was, also above the LEO. (Log.truncateTo)
    """
    if follows(s, replica) and (end < s.leo[replica] or has(c, TRUNCATION_CLEARS_EPOCHS)):
        s.cached_epoch[replica] = NO_EPOCH
    if follows(s, replica):
        s.fetched_epoch[replica] = NO_EPOCH
    cut_log(s, replica, end)
    s.durable[replica] = min(s.durable[replica], end)
    if has(c, TRUNCATION_LOWERS_HW):
        s.hw[replica] = min(s.hw[replica], end)


def cut_log(s: Any, replica: int, end: int) -> None:
    """Remove every record at or above `end`."""
    for offset in range(end, s.leo[replica]):
        s.log[replica, offset] = NO_RECORD
    s.leo[replica] = min(s.leo[replica], end)


def truncate_as_told(s: Any, c: Settings, follower: int, end: int, is_last: int) -> None:
    """Cut the log where the leader said, and have a future log cut likewise.

    The future log's thread learns only of the last truncation, which since truncation on fetch need
    not come; by a proposed rule it learns of each. (ReplicaFetcherThread.truncate,
    AbstractFetcherThread.markPartitionsForTruncation)
    """
    truncate(s, c, follower, end)
    if c.future_log == 0 or s.future[follower] == NO_FUTURE_LOG:
        return
    if is_last == 1 or has(c, TRUNCATION_MARKS_FUTURE_LOG):
        reached = s.future_cut[follower]
        if s.future[follower] == COPIES:
            reached = s.future_leo[follower]
        s.future[follower] = TRUNCATES
        s.future_cut[follower] = min(end, reached)


def begin_to_follow(s: Any, c: Settings, replica: int) -> None:
    """A new follower cuts its log at once, or finds out where before it appends."""
    if c.truncation == TRUNCATE_TO_HIGH_WATERMARK:
        to_high_watermark(s, c, replica)
    else:
        s.role[replica] = TRUNCATING


def keeps_epochs(c: Settings) -> bool:
    """True if a replica has an epoch cache; truncation to the high watermark needs none."""
    return c.truncation != TRUNCATE_TO_HIGH_WATERMARK


def finds_out_by_fetching(c: Settings) -> bool:
    """True if a follower may fetch before it knows where to cut: the answer will say."""
    return c.truncation == TRUNCATE_ON_FETCH


# 1. To the high watermark.


def to_high_watermark(s: Any, c: Settings, replica: int) -> None:
    """Up to 0.10.2 a new follower keeps what it knows to be committed, without a request.

    (ReplicaManager.makeFollowers)
    """
    truncate(s, c, replica, s.hw[replica])
    s.role[replica] = FETCHING


# 2 to 4. By a question before the first fetch: OffsetForLeaderEpoch.


def can_offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> bool:
    """The broker that the follower knows as leader is up and believes so too.

    Since KIP-320 both must mean the same epoch; until then nothing checks it. A broker about to
    shut down asks no more, as it fetches no more.
    """
    if s.role[follower] != TRUNCATING:
        return False
    if contains(s.stopping, follower) and not has(c, KRAFT):
        return False
    leader = s.known_leader[follower]
    if s.role[leader] != LEADER:
        return False
    return not has(c, FENCING) or s.known_epoch[leader] == s.known_epoch[follower]


def offset_for_leader_epoch(s: Any, c: Settings, follower: int) -> None:
    """Ask where its own last epoch ends, and cut by the answer.

    Request and answer are one step (ReplicaFetcherThread.maybeTruncate in 0.11,
    AbstractFetcherThread.getOffsetTruncationState since 2.0). Since KIP-279 a follower that does
    not have the epoch of the answer cuts off what is above it and asks again.
    """
    leader = s.known_leader[follower]
    epoch, end = end_offset_for(s, c, leader, latest_epoch(s, c, follower))
    cut, agreed = truncation_point(s, c, follower, epoch, end)
    truncate_as_told(s, c, follower, cut, agreed)
    if agreed == 1:
        s.role[follower] = FETCHING


def end_offset_for(s: Any, c: Settings, replica: int, requested: int) -> tuple[int, int]:
    """The end of epoch `requested` in this replica's log: (the epoch meant, its end offset).

    (NO_EPOCH, UNKNOWN_OFFSET) if undefined. (LeaderEpochFileCache.endOffsetFor)
    """
    if c.truncation == TRUNCATE_BY_EPOCH:
        return end_by_epoch(s, c, replica, requested)
    if c.truncation == TRUNCATE_BY_EPOCHS_2_0:
        return end_by_epochs_2_0(s, c, replica, requested)
    return end_by_epochs(s, c, replica, requested)


def truncation_point(s: Any, c: Settings, follower: int, epoch: int, end: int) -> tuple[int, int]:
    """The offset where a follower cuts its log if `epoch` ends at `end`, and 1 for the last cut.

    An undefined end means the high watermark in all ways.
    """
    if end == UNKNOWN_OFFSET:
        return min(s.hw[follower], s.leo[follower]), 1
    if c.truncation == TRUNCATE_BY_EPOCH:
        return cut_by_epoch(s, follower, end), 1
    if c.truncation == TRUNCATE_BY_EPOCHS_2_0:
        return cut_by_epochs_2_0(s, c, follower, epoch, end)
    return cut_by_epochs(s, c, follower, epoch, end)


# 2. By epoch (KIP-101, 0.11).


def end_by_epoch(s: Any, c: Settings, replica: int, requested: int) -> tuple[int, int]:
    """The LEO for the latest epoch, otherwise the start of the smallest larger one.

    Undefined for an epoch later than the latest or before the first. An empty cache answers a
    request for no epoch with the LEO. The wire carries the offset alone.
    """
    latest = latest_epoch(s, c, replica)
    if requested == latest:
        return requested, s.leo[replica]
    if requested > latest:
        return NO_EPOCH, UNKNOWN_OFFSET
    floor, end = floor_and_end(s, c, replica, requested, latest)
    if floor == NO_EPOCH:
        return NO_EPOCH, UNKNOWN_OFFSET
    return floor, end


def cut_by_epoch(s: Any, follower: int, end: int) -> int:
    """The leader's offset, whatever the follower itself has of that epoch."""
    cut: int = min(end, s.leo[follower])
    return cut


# 3. By epochs as 2.0.0 had it (KIP-279 as first released).


def end_by_epochs_2_0(s: Any, c: Settings, replica: int, requested: int) -> tuple[int, int]:
    """The largest epoch that is not larger than the requested one, and its end.

    Undefined for no epoch, for one later than the latest, and for one before the first.
    """
    latest = latest_epoch(s, c, replica)
    if requested == NO_EPOCH or requested > latest:
        return NO_EPOCH, UNKNOWN_OFFSET
    if requested == latest:
        return requested, s.leo[replica]
    floor, end = floor_and_end(s, c, replica, requested, latest)
    if floor == NO_EPOCH:
        return NO_EPOCH, UNKNOWN_OFFSET
    return floor, end


def cut_by_epochs_2_0(s: Any, c: Settings, follower: int, epoch: int, end: int) -> tuple[int, int]:
    """The lesser of `end` and the end of the same epoch in the follower's log.

    If it does not have that epoch: the end of its largest smaller one, and it asks again. If it has
    none smaller: `end`, which leaves in place what it should cut.
    """
    own_epoch, own_end = end_by_epochs_2_0(s, c, follower, epoch)
    if own_end == UNKNOWN_OFFSET:
        return min(end, s.leo[follower]), 1
    if own_epoch != epoch:
        return min(own_end, s.leo[follower]), 0
    return min(end, own_end, s.leo[follower]), 1


# 4. By epochs (KIP-279 as proposed, and with KAFKA-7415 since 2.0.1).


def end_by_epochs(s: Any, c: Settings, replica: int, requested: int) -> tuple[int, int]:
    """The largest epoch that is not larger than the requested one, and its end.

    An epoch before the first is `requested` itself, ending where the first begins (KAFKA-7415).
    Undefined for no epoch, and for one later than the latest.
    """
    latest = latest_epoch(s, c, replica)
    if requested == NO_EPOCH or requested > latest:
        return NO_EPOCH, UNKNOWN_OFFSET
    if requested == latest:
        return requested, s.leo[replica]
    floor, end = floor_and_end(s, c, replica, requested, latest)
    if floor == NO_EPOCH:
        return requested, end
    return floor, end


def cut_by_epochs(s: Any, c: Settings, follower: int, epoch: int, end: int) -> tuple[int, int]:
    """The lesser of `end` and the end of the same epoch in the follower's log.

    If it does not have that epoch: the end of its largest smaller one, and it asks again. If it
    knows of no epochs that far: `end`, as by one question.
    """
    own_epoch, own_end = end_by_epochs(s, c, follower, epoch)
    if own_end == UNKNOWN_OFFSET:
        return min(end, s.leo[follower]), 1
    if own_epoch != epoch:
        return min(own_end, s.leo[follower]), 0
    return min(end, own_end, s.leo[follower]), 1


# 5. On fetch (KIP-595, 2.8): a fetch carries the follower's last epoch and so is the question. What
# the leader looks up and where the follower cuts is as by epochs.


def carried_epoch(s: Any, c: Settings, follower: int) -> int:
    """The last epoch in the follower's cache, which its fetch carries; NO_EPOCH before that."""
    return last_fetched_epoch(s, c, follower) if c.truncation == TRUNCATE_ON_FETCH else NO_EPOCH


def diverges(s: Any, c: Settings, leader: int, offset: int, last_epoch: int) -> bool:
    """True if the leader sees that a log ending at `offset` in `last_epoch` is not part of its own.

    That is so if this epoch ends earlier in its own log, or is not in it (Partition.readRecords).
    """
    if c.truncation != TRUNCATE_ON_FETCH or last_epoch == NO_EPOCH:
        return False
    epoch, end = end_by_epochs(s, c, leader, last_epoch)
    return end != UNKNOWN_OFFSET and (epoch < last_epoch or end < offset)


def cannot_place(s: Any, c: Settings, leader: int, last_epoch: int) -> bool:
    """True if the fetch ends in an epoch later than all that the leader knows."""
    if c.truncation != TRUNCATE_ON_FETCH or last_epoch == NO_EPOCH:
        return False
    _, end = end_by_epochs(s, c, leader, last_epoch)
    return end == UNKNOWN_OFFSET


def diverging_cut(
    s: Any, c: Settings, leader: int, follower: int, last_epoch: int
) -> tuple[int, int]:
    """The offset where the follower will cut by its last epoch's end, and 1 for the last cut.

    It follows from the answer and from its own log, which nothing can change while it waits.
    """
    epoch, end = end_by_epochs(s, c, leader, last_epoch)
    return cut_by_epochs(s, c, follower, epoch, end)
