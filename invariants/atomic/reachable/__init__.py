"""Claims against vacuity at the atomic grain: each must happen somewhere in the explored space."""

from waterline.invariants.atomic.reachable import (
    high_watermark_advances,
    leader_is_replaced,
    record_is_written,
)
from waterline.invariants.reachable import truncation_removes_record
from waterline.model.core.claim import Reachable

ALL: tuple[Reachable, ...] = (
    record_is_written.CLAIM,
    high_watermark_advances.CLAIM,
    leader_is_replaced.CLAIM,
    truncation_removes_record.CLAIM,
)

__all__ = ["ALL"]
