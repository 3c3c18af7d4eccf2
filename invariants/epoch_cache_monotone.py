"""Epochs never decrease along a log: the epoch cache tells every record's epoch.

Where they do, the replica answers OffsetForLeaderEpoch with an offset that is not the end of the
requested epoch. Versions that truncate to the high watermark have no epoch cache.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.epochs import epoch_at
from waterline.model.message.terms import TRUNCATE_TO_HIGH_WATERMARK


def first_decrease(s: Any, replica: int) -> int:
    """The least offset whose record has a smaller epoch than the one before it; -1 for none."""
    for offset in range(1, s.leo[replica]):
        if epoch_at(s, replica, offset) < epoch_at(s, replica, offset - 1):
            return offset
    return -1


def holds(s: Any, c: Any) -> bool:
    """Epochs decrease in no log."""
    for replica in range(s.replicas):
        if first_decrease(s, replica) >= 0:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the log and the offset."""
    for replica in range(s.replicas):
        offset = first_decrease(s, replica)
        if offset >= 0:
            return (
                f"In the log of r{replica} offset {offset} was written in epoch "
                f"{epoch_at(s, replica, offset)}, after one of epoch "
                f"{epoch_at(s, replica, offset - 1)}."
            )
    return "Epochs do not decrease."


def applies(c: Any) -> bool:
    """True for a version with an epoch cache."""
    return bool(c.truncation != TRUNCATE_TO_HIGH_WATERMARK)


def where(s: State, c: Any) -> Breaking:
    """Locate the decrease for a picture."""
    for r in range(s.replicas):
        offset = first_decrease(s, r)
        if offset >= 0:
            return Breaking((r,), (offset,), (s.log[r, offset],))
    return Breaking()


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=applies,
    where=where,
    reasons=("leads_in_the_past", "written_by_a_stale_leader"),
    remark="Does not apply to truncation to the HW.",
    rank=160,
)
