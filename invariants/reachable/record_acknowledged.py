"""A record is acknowledged. Until a producer has an answer, none of its records can be lost."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence
from waterline.model.message.terms import ACKS_NONE


def happens(before: Any, after: Any, c: Any) -> bool:
    """The step acknowledges a record."""
    return bool(after.acked & ~before.acked != 0)


def applies(c: Any) -> bool:
    """True unless producers need no answer (acks=0)."""
    return bool(c.acks != ACKS_NONE)


CLAIM = Reachable(
    name="record_acknowledged",
    sentence=first_sentence(__doc__),
    happens=happens,
    applies=applies,
)
