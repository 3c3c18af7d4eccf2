"""The common prefix of two logs, and the truncation of one."""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.terms import (
    BY_LATEST_EPOCH,
    TO_HIGH_WATERMARK,
    TO_MATCHING_RECORD,
    AtomicSettings,
)
from waterline.model.message.epochs import epoch_at
from waterline.model.message.truncation import cut_log


def same_epoch(s: Any, one: int, other: int, offset: int) -> bool:
    """True if both records at `offset` have the same epoch; both logs must reach that far."""
    return epoch_at(s, one, offset) == epoch_at(s, other, offset)


def matching_end(s: Any, leader: int, follower: int) -> int:
    """Return one more than the last offset where both logs hold the same record; 0 for none."""
    for end in range(min(s.leo[leader], s.leo[follower]), 0, -1):
        if s.log[leader, end - 1] == s.log[follower, end - 1]:
            return end
    return 0


def epoch_end(s: Any, leader: int, follower: int) -> int:
    """The end, in the leader's log, of the epoch of the follower's last record (KIP-101).

    That is the leader's LEO if its last record is of that epoch, else its first record of a larger
    one. A leader that has neither, or an empty log, cannot say, and the follower falls back to its
    high watermark. A follower with an empty log has nothing to ask.
    """
    if s.leo[follower] == 0:
        return 0
    latest = epoch_at(s, follower, s.leo[follower] - 1)
    end = s.leo[leader]
    if end > 0 and epoch_at(s, leader, end - 1) == latest:
        return end
    for offset in range(end):
        if epoch_at(s, leader, offset) > latest:
            return offset
    return s.hw[follower]


def truncation_end(s: Any, c: AtomicSettings, leader: int, follower: int) -> int:
    """The end of the log of a new follower of `leader`, by the version's rule."""
    if c.truncation == TO_HIGH_WATERMARK:
        return s.hw[follower]
    if c.truncation == BY_LATEST_EPOCH:
        return epoch_end(s, leader, follower)
    if c.truncation == TO_MATCHING_RECORD:
        return matching_end(s, leader, follower)
    return s.leo[follower]


def in_some_log(s: Any, record: int) -> bool:
    """True if any replica still has the record."""
    for replica in range(s.replicas):
        for offset in range(s.leo[replica]):
            if s.log[replica, offset] == record:
                return True
    return False


def cut(s: Any, replica: int, end: int) -> None:
    """Remove every record at or above `end`, and lower the high watermark to it.

    The epoch of a record that is now in no log can never be read again: it becomes 0.
    """
    before: int = s.leo[replica]
    cut_log(s, replica, end)
    s.hw[replica] = min(s.hw[replica], end)
    if s.leo[replica] < before:
        for record in range(1, s.produced + 1):
            if s.record_epoch[record - 1] != 0 and not in_some_log(s, record):
                s.record_epoch[record - 1] = 0
