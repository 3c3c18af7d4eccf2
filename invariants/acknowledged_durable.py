"""The current leader has every record that was acknowledged to a producer.

Under acks=1 Kafka does not promise this: a record is acknowledged at append, and a leader that dies
before it is fetched takes it along. Under acks=0 nothing is ever acknowledged.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, lacks_records
from waterline.invariants.contract import of_acknowledged
from waterline.invariants.current_leader import current_leader
from waterline.invariants.kept_records import first_lacking, lacking
from waterline.invariants.outside import record_is_lost
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import ACKS_LEADER, NO_RECORD, NO_REPLICA, with_member


def holds(s: Any, c: Any) -> bool:
    """Every acknowledged record is somewhere in the current leader's log."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return True
    return lacking(s, with_member(0, leader)) == 0


def explain(s: State, c: Any) -> str:
    """Name the acknowledged record that the leader lacks."""
    leader = current_leader(s)
    record = NO_RECORD if leader == NO_REPLICA else first_lacking(s, with_member(0, leader))
    if record == NO_RECORD:
        return "No acknowledged record is missing."
    contract = " acks=1 does not promise more." if c.acks == ACKS_LEADER else ""
    return (
        f"m{record} was acknowledged; the log of leader r{leader} (epoch {s.epoch}) does not have "
        f"it: m{record} is lost.{contract}"
    )


def where(s: State, c: Any) -> Breaking:
    """Locate the missing records for a picture."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return Breaking()
    return lacks_records(s, (leader,), lacking(s, with_member(0, leader)))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_acknowledged,
    breach=Breach(
        word="loses",
        sentence="a record is lost that was acknowledged to a producer",
        severity=1,
    ),
    where=where,
    outside=record_is_lost,
    remark="Does not say that it is at the same offset. With acks=1 Kafka does not promise it.",
    rank=20,
)
