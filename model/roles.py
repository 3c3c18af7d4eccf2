"""Taking up and laying down a role, and the one rule that makes a log shorter."""

from __future__ import annotations

from typing import Any

from model.terms import (
    FETCHING,
    IDLE,
    LEADER,
    NO_RECORD,
    NO_ROLE,
    TRUNCATING,
    UNKNOWN_OFFSET,
)


def follows(s: Any, replica: int) -> bool:
    """Whether the broker acts as a follower, fetching or about to."""
    return s.role[replica] == FETCHING or s.role[replica] == TRUNCATING


def drop_fetch(s: Any, follower: int) -> None:
    """The follower's outstanding fetch, whatever became of it, is forgotten."""
    s.fetch[follower] = IDLE
    s.answer_offset[follower] = 0
    for i in range(s.records):
        s.answer_log[follower, i] = NO_RECORD


def lay_down_role(s: Any, replica: int) -> None:
    """The broker stops being leader or follower; what only that role remembers is gone.

    A leader's waiting produce requests are answered with an error or lost: its records of this term
    will never be acknowledged (DelayedProduce, ReplicaManager.stopReplica/makeFollowers).
    """
    if s.role[replica] == LEADER:
        s.known_isr[replica] = 0
        s.unanswered[replica] = 0
        for follower in range(s.replicas):
            s.remote_leo[replica, follower] = UNKNOWN_OFFSET
    elif follows(s, replica):
        drop_fetch(s, replica)
        s.known_leader[replica] = 0
    s.role[replica] = NO_ROLE


def truncate(s: Any, replica: int, end: int) -> None:
    """Remove every record at or above `end`; the high watermark does not stay above the log."""
    for offset in range(end, s.leo[replica]):
        s.log[replica, offset] = NO_RECORD
    s.leo[replica] = min(s.leo[replica], end)
    s.hw[replica] = min(s.hw[replica], end)


def in_use(s: Any, record: int) -> bool:
    """Whether a log or an answer on its way holds the record."""
    for replica in range(s.replicas):
        for offset in range(s.leo[replica]):
            if s.log[replica, offset] == record:
                return True
        if follows(s, replica):
            for i in range(s.records):
                if s.answer_log[replica, i] == record:
                    return True
    return False


def forget_lost_records(s: Any) -> None:
    """The epoch of a record that is nowhere any more can never be read again: it becomes 0.

    To be called last wherever a record may have been removed.
    """
    for record in range(1, s.produced + 1):
        if s.record_epoch[record - 1] != 0 and not in_use(s, record):
            s.record_epoch[record - 1] = 0
