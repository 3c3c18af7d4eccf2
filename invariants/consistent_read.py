"""A leader, stale or not, serves below its HW only the record first committed there.

A stale leader counts: it answers consumers until it learns better. It does not say that the high
watermark a consumer sees never falls; after a failover it may.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.contract import of_committed
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import LEADER


def first_other_record(s: Any, leader: int) -> int:
    """The least offset below this leader's HW with another record than committed; -1."""
    for offset in range(min(s.hw[leader], s.leo[leader])):
        if s.log[leader, offset] != s.exposed[offset]:
            return offset
    return -1


def holds(s: Any, c: Any) -> bool:
    """No broker in the role of leader shows another record below its high watermark."""
    for leader in range(s.replicas):
        if s.role[leader] == LEADER and first_other_record(s, leader) >= 0:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the broker, the record that it serves, and the committed one."""
    for leader in range(s.replicas):
        if s.role[leader] != LEADER:
            continue
        offset = first_other_record(s, leader)
        if offset >= 0:
            return (
                f"r{leader}, leader in epoch {s.known_epoch[leader]}, serves "
                f"m{s.log[leader, offset]} "
                f"at offset {offset}, where m{s.exposed[offset]} had been committed."
            )
    return "Every read is consistent."


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_committed,
    breach=Breach(
        word="misreads",
        sentence="a consumer reads another record where it has read one",
        severity=7,
    ),
    reasons=("parts",),
    remark="Does not say that the HW a consumer sees never falls: after a failover it may.",
    rank=70,
)
