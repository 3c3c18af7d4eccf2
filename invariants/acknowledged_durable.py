"""The current leader has every record that was acknowledged to a producer.

Under acks=1 Kafka does not promise this: a record is acknowledged at append, and a leader that dies
before it is fetched takes it along. Under acks=0 nothing is ever acknowledged.
"""

from __future__ import annotations

from typing import Any

from invariants.claim import Invariant
from invariants.current_leader import current_leader
from model.state import State
from model.terms import ACKS_LEADER, NO_REPLICA, contains


def holds(s: Any, c: Any) -> bool:
    """Every acknowledged record is somewhere in the current leader's log."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return True
    missing = s.acked
    for offset in range(s.leo[leader]):
        missing &= ~(1 << (s.log[leader, offset] - 1))
    return bool(missing == 0)


def explain(s: State, c: Any) -> str:
    """Which acknowledged record the leader does not have."""
    leader = current_leader(s)
    log = [s.log[leader, offset] for offset in range(s.leo[leader])]
    for record in range(1, s.produced + 1):
        if contains(s.acked, record - 1) and record not in log:
            contract = " acks=1 does not promise more." if c.acks == ACKS_LEADER else ""
            return (
                f"m{record} was acknowledged; leader r{leader} of epoch {s.epoch} "
                f"does not have it.{contract}"
            )
    return "No acknowledged record is missing."


CLAIM = Invariant(
    name="acknowledged_durable",
    sentence="The current leader has every record that was acknowledged to a producer.",
    holds=holds,
    explain=explain,
)
