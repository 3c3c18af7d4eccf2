"""No replica needs again what `--settled` has cut off below all logs.

Every log still has the record above the cut, and no high watermark, checkpoint, fetched offset or
answer is below it. It is the side condition of the cut (docs/unbounded.md): if it breaks, every
"holds" of the same run is void.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.order_abstraction import has_offset
from waterline.model.message.roles import follows
from waterline.model.message.terms import LEADER, UNKNOWN_OFFSET


def falls_below(s: Any, r: int) -> bool:
    """True if a replica has something at an offset that was cut off."""
    if s.leo[r] < 1 or s.log[r, 0] != s.exposed[0] or s.checkpoint[r] < 1:
        return True
    if s.up[r] == 1 and s.hw[r] < 1:
        return True
    if s.role[r] == LEADER:
        for other in range(s.replicas):
            if s.remote_leo[r, other] != UNKNOWN_OFFSET and s.remote_leo[r, other] < 1:
                return True
    return follows(s, r) and has_offset(s, r) and s.answer_offset[r] < 1


def holds(s: Any, c: Any) -> bool:
    """True until something is cut off, and then while no replica falls below the cut."""
    if s.base == 0:
        return True
    for r in range(s.replicas):
        if falls_below(s, r):
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the broker that falls below the cut, and the remedy."""
    broker = next((f"r{r}" for r in range(s.replicas) if falls_below(s, r)), "no broker")
    return f"{broker} falls below what was cut off: ask again with --no-settled."


def is_cut(c: Any) -> bool:
    """True if settled records are cut off at all."""
    return c.settled == 1


SIDE_CONDITION = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=is_cut,
    about_abstraction=True,
    remark="Only with `--unbounded`. Says nothing about Kafka: where it breaks, `--no-settled` "
    "has the verdict.",
    rank=175,
)
