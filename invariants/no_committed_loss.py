"""The current leader has every record that was ever below a leader's high watermark.

At the same offset, and the same record. The claim says nothing without a current leader, and
nothing about a record that was acknowledged without being committed (acks=1).
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, lacks_committed
from waterline.invariants.contract import of_committed
from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import record_is_lost
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """Leader completeness: the exposed records are a prefix of the current leader's log."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return True
    if s.leo[leader] < s.exposed_end:
        return False
    for offset in range(s.exposed_end):
        if s.log[leader, offset] != s.exposed[offset]:
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the committed record that is gone, and what the leader has in its place."""
    leader = current_leader(s)
    for offset in range(s.exposed_end):
        record = s.exposed[offset]
        text = f"m{record} was committed at offset {offset}; the log of leader r{leader}"
        text = f"{text} (epoch {s.epoch})"
        if offset >= s.leo[leader]:
            found = f"ends at offset {s.leo[leader]}" if s.leo[leader] else "is empty"
            return f"{text} {found}: m{record} is lost."
        if s.log[leader, offset] != record:
            return f"{text} has m{s.log[leader, offset]} there: m{record} is lost."
    return "No committed record is lost."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing record for a picture."""
    leader = current_leader(s)
    return lacks_committed(s, leader) if leader != NO_REPLICA else Breaking()


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_committed,
    breach=Breach(
        word="drops",
        sentence="a record is lost that was committed",
        severity=4,
    ),
    where=where,
    outside=record_is_lost,
    remark="At the same offset. Says nothing while there is no current leader.",
    rank=10,
)
