"""Once its HW has reached its epoch's start, the leader shows all that was committed.

A new leader starts from the high watermark that it had as a follower, which lags. Until it has
reached the start of its epoch, ListOffsets answers with an error (KIP-207, 2.2.0; up to then it
answered with a high watermark of the past). Fetches show it all the same: a consumer that is ahead
of it waits.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants import hw_covers_committed
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.epochs import epoch_start
from waterline.model.message.terms import NO_REPLICA


def holds(s: Any, c: Any) -> bool:
    """The current leader's HW is below the start of its epoch, or not below what was committed."""
    leader = current_leader(s)
    if leader == NO_REPLICA or s.hw[leader] < epoch_start(s, leader):
        return True
    return bool(s.hw[leader] >= s.exposed_end)


def explain(s: State, c: Any) -> str:
    """Say how far the visible HW went back."""
    leader = current_leader(s)
    if holds(s, c):
        return "What is shown does not go back."
    return (
        f"Leader r{leader} of epoch {s.epoch}, which begins at {epoch_start(s, leader)}, shows "
        f"HW {s.hw[leader]}; {s.exposed_end} had been shown."
    )


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    where=hw_covers_committed.where,
    reasons=("begins_behind", "returns_below_its_log"),
    remark="KIP-207. Says nothing before that: ListOffsets answers with an error then, a "
    "fetch does not.",
    rank=90,
)
