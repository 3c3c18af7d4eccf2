"""A producer's record reaches the leader."""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.assignment import leader_min_isr
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.settings import Settings
from waterline.model.message.terms import ACKS_ALL, ACKS_LEADER, LEADER, size, with_member


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
