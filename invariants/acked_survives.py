"""Every acknowledged record is in the log of some replica, up or down.

Weaker than that the current leader has it: this is what can still be repaired by hand. With
acks=all an acknowledged record was in min.insync.replicas logs, so that it may be gone only if as
many machines have lost power or their disk. Where an environment allows that many, and with any
other acks, nothing is promised and the claim does not apply.
"""

from __future__ import annotations

from typing import Any

from invariants.claim import Invariant
from model.state import State
from model.terms import ACKS_ALL, contains


def nowhere(s: Any) -> int:
    """The acknowledged records that no log has."""
    missing: int = s.acked
    for replica in range(s.replicas):
        for offset in range(s.leo[replica]):
            missing &= ~(1 << (s.log[replica, offset] - 1))
    return missing


def holds(s: Any, c: Any) -> bool:
    """There is none."""
    return nowhere(s) == 0


def explain(s: State, c: Any) -> str:
    """Which record is gone from everywhere."""
    missing = nowhere(s)
    for record in range(1, s.records + 1):
        if contains(missing, record - 1):
            return f"m{record} was acknowledged and is in no log any more."
    return "Every acknowledged record is somewhere."


def applies(c: Any) -> bool:
    """Only within the faults that acks=all and min.insync.replicas are to outlive."""
    return bool(c.acks == ACKS_ALL and c.power_losses + c.lost_disks < c.min_insync_replicas)


CLAIM = Invariant(
    name="acked_survives",
    sentence="Every acknowledged record is in some log, within the faults that acks=all promises.",
    holds=holds,
    explain=explain,
    applies=applies,
)
