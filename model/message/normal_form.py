"""Normal form: a value that no rule can read again becomes the lowest, so equal clusters are equal.

It is not part of the protocol: it runs after every effect, and no rule mentions it. Leaving a role
clears a broker's own memory (`model.message.roles`); the rest, which belongs to no broker, is here.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_RECORD, contains, with_member


def normalise(s: Any, c: Settings) -> None:
    """The epoch of a record that is in no log and no answer can never be read: it becomes 0."""
    kept = records_kept(s, c)
    for record in range(s.records):
        if not contains(kept, record + 1):
            s.record_epoch[record] = 0


def records_kept(s: Any, c: Settings) -> int:
    """The records that a log or an answer on its way holds, bit id each; bit 0 means nothing."""
    kept = with_member(0, NO_RECORD)
    for replica in range(s.replicas):
        for offset in range(s.records):
            kept = with_member(kept, s.log[replica, offset])
            if c.future_log == 1:
                kept = with_member(kept, s.future_log[replica, offset])
        if follows(s, replica):
            for i in range(s.records):
                kept = with_member(kept, s.answer_log[replica, i])
    return kept
