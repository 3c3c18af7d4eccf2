"""A producer's record reaches the leader; a consumer goes on after a change of leader.

A consumer remembers the offset that it will read next and the record that it read last. Where
another log has taken over, the offset alone does not tell it (KIP-320).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.assignment import leader_min_isr
from waterline.model.message.features import CONSUMER_VALIDATION, has
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ACKS_ALL,
    ACKS_LEADER,
    LEADER,
    NO_RECORD,
    size,
    with_member,
)


def can_produce(s: Any, c: Settings, leader: int) -> bool:
    """A broker that believes itself leader takes a record.

    With acks=all only while the ISR it knows has min.insync.replicas members
    (Partition.appendRecordsToLeader; NOT_ENOUGH_REPLICAS otherwise).
    """
    if s.role[leader] != LEADER:
        return False
    return c.acks != ACKS_ALL or size(s.known_isr[leader]) >= leader_min_isr(s, c, leader)


def produce_limit(s: Any, c: Settings, leader: int) -> int:
    """The number of records is bounded; without bounds only how many a log has at one time."""
    if c.unbounded == 1:
        return limits.WITHIN if s.leo[leader] < s.records else limits.RECORDS
    return limits.WITHIN if s.produced < s.records else limits.RECORDS


def begin_record(s: Any, epoch: int) -> int:
    """A record of this epoch that was never before; its name less one."""
    born: int = s.produced
    s.produced = born + 1
    s.record_epoch[born] = epoch
    return born


def produce(s: Any, c: Settings, leader: int) -> None:
    """Append a new record in the leader's epoch, LEO + 1, then try to advance the high watermark.

    acks=1 is acknowledged now, acks=all when the high watermark passes it, acks=0 never.
    """
    born = begin_record(s, s.known_epoch[leader])
    s.log[leader, s.leo[leader]] = born + 1
    s.leo[leader] = s.leo[leader] + 1
    s.entry_lost[leader] = 0
    if c.acks == ACKS_LEADER:
        s.acked = with_member(s.acked, born)
    elif c.acks == ACKS_ALL:
        s.unanswered[leader] = with_member(s.unanswered[leader], born)
    advance_high_watermark(s, c, leader)


def can_consume(s: Any, c: Settings, leader: int) -> bool:
    """A broker that leads, as far as it knows, has a committed record at the consumer's offset."""
    return s.role[leader] == LEADER and s.consumed < s.hw[leader] and s.misread == 0


def consume(s: Any, c: Settings, leader: int) -> None:
    """Read the next record; or learn that the last record read is not below it.

    Without KIP-320 the consumer reads on, past records that it has never seen. With KIP-320 it gets
    a LogTruncationException, and begins again from the start.
    """
    parted = s.consumed > 0 and s.log[leader, s.consumed - 1] != s.last_consumed
    if parted and has(c, CONSUMER_VALIDATION):
        s.consumed = 0
        s.last_consumed = NO_RECORD
    elif parted:
        s.misread = 1
    else:
        s.last_consumed = s.log[leader, s.consumed]
        s.consumed = s.consumed + 1
