"""Claims against vacuity: a run that never sees these events proves little.

Each names one thing that must happen somewhere in the explored space. The name of its rule is the
claim's, and the first sentence under it the claim's sentence.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable
from waterline.model.message.terms import ACKS_NONE, LEADER, NO_EPOCH, NO_RECORD


def record_commits(before: Any, after: Any, c: Any) -> bool:
    """A record commits. Some leader's high watermark passes it."""
    return bool(after.exposed_end > before.exposed_end)


def record_acknowledged(before: Any, after: Any, c: Any) -> bool:
    """A record is acknowledged. Until a producer has an answer, none of its records can be lost."""
    return bool(after.acked & ~before.acked != 0)


def needs_answers(c: Any) -> bool:
    """True unless producers need no answer (acks=0)."""
    return bool(c.acks != ACKS_NONE)


def leader_fails_over(before: Any, after: Any, c: Any) -> bool:
    """A leader fails over. Another broker takes up leadership in a later epoch."""
    for replica in range(after.replicas):
        if after.role[replica] == LEADER and before.role[replica] != LEADER:
            if succeeds(before, after.known_epoch[replica]):
                return True
    return False


def succeeds(s: Any, epoch: int) -> bool:
    """True if a broker knows an earlier epoch, or has a record of one."""
    for replica in range(s.replicas):
        if s.known_epoch[replica] != NO_EPOCH and s.known_epoch[replica] < epoch:
            return True
        for offset in range(s.leo[replica]):
            record = s.log[replica, offset]
            if record != NO_RECORD and s.record_epoch[record - 1] < epoch:
                return True
    return False


def isr_grows_back(before: Any, after: Any, c: Any) -> bool:
    """The ISR shrinks and grows back. Every replica starts in it: one that joins had left."""
    return bool(after.isr != before.isr and after.isr & before.isr == before.isr)


def truncation_removes_record(before: Any, after: Any, c: Any) -> bool:
    """A truncation removes a record. Some replica's log gets shorter."""
    for replica in range(after.replicas):
        if after.leo[replica] < before.leo[replica]:
            return True
    return False


ALL: tuple[Reachable, ...] = (
    Reachable.of(record_commits),
    Reachable.of(record_acknowledged, applies=needs_answers),
    Reachable.of(leader_fails_over),
    Reachable.of(isr_grows_back),
    Reachable.of(truncation_removes_record),
)
