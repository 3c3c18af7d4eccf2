"""Every acknowledged record is in the log of a replica that leads or may be elected.

A claim about durability that needs no leader. With a leader it is weaker than
`acknowledged_durable`; without one it still says something: no election of this version brings back
a record that it does not cover. `acknowledged_on_disk` accepts any log at all, and so what could be
repaired by hand; with unclean elections the two are one. It does not say that the next leader has
the record: that is `candidates_complete`.

Like `acknowledged_durable` it is not promised under acks=1, nor with unclean elections.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking, brokers_in, lacks_records
from waterline.invariants.contract import of_acknowledged
from waterline.invariants.electable import electable
from waterline.invariants.kept_records import first_lacking, lacking, replica_names, who_has
from waterline.invariants.outside import record_is_lost
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_RECORD


def holds(s: Any, c: Any) -> bool:
    """The electable replicas have, between them, every acknowledged record."""
    return lacking(s, electable(s, c)) == 0


def explain(s: State, c: Any) -> str:
    """Name the record out of reach, the electable replicas, and those that have it."""
    may_lead = electable(s, c)
    record = first_lacking(s, may_lead)
    if record == NO_RECORD:
        return "Every acknowledged record is where an election can reach it."
    elsewhere = who_has(s, record)
    where = f"only {replica_names(s, elsewhere)} has it" if elsewhere else "no log has it any more"
    if not may_lead:
        return f"m{record} was acknowledged; nobody can be elected any more, and {where}."
    return f"m{record} was acknowledged; only {replica_names(s, may_lead)} may lead, and {where}."


def where(s: State, c: Any) -> Breaking:
    """Locate the missing records for a picture."""
    may_lead = electable(s, c)
    return lacks_records(s, brokers_in(s, may_lead), lacking(s, may_lead))


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_acknowledged,
    breach=Breach(
        word="strands",
        sentence="a record that was acknowledged is in no log of a replica that may lead",
        severity=3,
    ),
    where=where,
    outside=record_is_lost,
    remark="Who may be elected: `invariants/electable.py:electable`. The ISR and, with ELR, "
    "that and the last known leader, less who will leave them on coming back from a "
    "crash; up or down; with unclean election everybody. It needs no leader. Does not "
    "say that the next leader has the record: that is `candidates_complete`.",
    rank=30,
)
