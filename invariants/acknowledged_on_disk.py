"""Every acknowledged record is in some log, of a broker up or down.

The weakest claim about durability: what is in a log can still be repaired by hand, no matter who
may be elected. It breaks where every log that had the record lost it: as many machines have
lost power or a disk, or replicas have truncated it. With acks=all an acknowledged record was in
min.insync.replicas logs, so that Kafka promises it while fewer machines lose what is on them.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, lacks_records
from waterline.invariants.contract import of_acknowledged
from waterline.invariants.kept_records import first_lacking, lacking
from waterline.invariants.outside import record_is_lost
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_RECORD


def everybody(s: Any) -> int:
    """All replicas."""
    members: int = (1 << s.replicas) - 1
    return members


def holds(s: Any, c: Any) -> bool:
    """No acknowledged record is missing from all logs."""
    return lacking(s, everybody(s)) == 0


def explain(s: State, c: Any) -> str:
    """Name the record that is in no log."""
    record = first_lacking(s, everybody(s))
    if record == NO_RECORD:
        return "Every acknowledged record is somewhere."
    return f"m{record} was acknowledged and is in no log any more."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing records for a picture."""
    return lacks_records(s, (), lacking(s, everybody(s)))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_acknowledged,
    breach=Breach(
        word="destroys",
        sentence="a record that was acknowledged is in no log at all",
        severity=2,
    ),
    where=where,
    outside=record_is_lost,
    remark="It needs no leader. Does not say that who has the record may ever lead. Promised "
    "with acks=all while fewer machines lose power or disks than min.insync.replicas.",
    rank=40,
)
