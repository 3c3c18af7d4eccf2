"""Claims against vacuity at the atomic grain: each must happen somewhere in the explored space."""

from __future__ import annotations

from typing import Any

from waterline.invariants.reachable import truncation_removes_record
from waterline.model.atomic.state import leads
from waterline.model.core.claim import Reachable


def record_is_written(before: Any, after: Any, c: Any) -> bool:
    """A record is written. Some leader appends one that was not there before."""
    return bool(after.produced > before.produced)


def high_watermark_advances(before: Any, after: Any, c: Any) -> bool:
    """A leader's HW advances. A record is committed."""
    for replica in range(after.replicas):
        if leads(after, replica) and after.hw[replica] > before.hw[replica]:
            return True
    return False


def leader_is_replaced(before: Any, after: Any, c: Any) -> bool:
    """A leader is replaced. Another replica takes up leadership after the first epoch."""
    for replica in range(after.replicas):
        if leads(after, replica) and not leads(before, replica) and after.known_epoch[replica] > 0:
            return True
    return False


ALL: tuple[Reachable, ...] = (
    Reachable.of(record_is_written),
    Reachable.of(high_watermark_advances),
    Reachable.of(leader_is_replaced),
    Reachable.of(truncation_removes_record),
)
