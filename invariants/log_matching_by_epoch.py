"""Records of one epoch at one offset of two logs: the logs are equal up to there.

Raft's Log Matching property, which elections by epoch and truncation by epoch rest on. Of all logs,
of brokers up or down. Versions that truncate to the high watermark do not look at epochs.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.epoch_cache_monotone import applies
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.epochs import epoch_at


def first_mismatch(s: Any, one: int, other: int) -> int:
    """The least offset where the records differ, while one at it or above has the same epoch.

    -1 for none.
    """
    differs = -1
    for offset in range(min(s.leo[one], s.leo[other])):
        if differs < 0 and s.log[one, offset] != s.log[other, offset]:
            differs = offset
        if differs >= 0 and epoch_at(s, one, offset) == epoch_at(s, other, offset):
            return differs
    return -1


def holds(s: Any, c: Any) -> bool:
    """No two logs differ below a record of the same epoch."""
    for one in range(s.replicas):
        for other in range(one):
            if first_mismatch(s, one, other) >= 0:
                return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the two logs, and where they differ."""
    for other in range(s.replicas):
        for one in range(other):
            offset = first_mismatch(s, one, other)
            if offset >= 0:
                return (
                    f"At offset {offset} r{one} has m{s.log[one, offset]} and r{other} has "
                    f"m{s.log[other, offset]}, and from there up to a record that both have in the "
                    "same epoch they are taken for equal."
                )
    return "Equal epochs mean equal logs."


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=applies,
    remark="Raft's Log Matching. Of all logs, of brokers up or down. Does not apply to truncation "
    "to the HW.",
    rank=165,
)
