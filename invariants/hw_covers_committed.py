"""The current leader's HW covers everything that was ever committed.

No version of Kafka promises this for a new leader, whose high watermark lags behind the previous
one: clients see it go back (KIP-207 hides that from ListOffsets only, `visible_hw`). So it is
checked only if requested.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """The current leader's HW, if there is a leader, is not below what was committed."""
    leader = current_leader(s)
    return bool(leader == NO_REPLICA or s.hw[leader] >= s.exposed_end)


def explain(s: State, c: Any) -> str:
    """Say how far the HW is below what was committed."""
    leader = current_leader(s)
    if holds(s, c):
        return "It covers all."
    return (
        f"Leader r{leader} of epoch {s.epoch} begins with HW {s.hw[leader]}, where "
        f"{s.exposed_end} had been shown by the one before."
    )


def where(s: State, c: Any) -> Breaking:
    """Locate the hidden records for a picture."""
    leader = current_leader(s)
    hidden = range(s.hw[leader], s.exposed_end)
    return Breaking((leader,), tuple(hidden), tuple(s.exposed[o] for o in hidden))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    default=False,
    where=where,
    reasons=("begins_behind", "returns_below_its_log"),
    remark="On request: no Kafka promises it of a new leader.",
    rank=100,
)
