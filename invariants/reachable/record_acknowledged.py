"""A record is acknowledged. Until a producer has an answer, none of its records can be lost."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence
from waterline.model.message.terms import ACKS_NONE


def happens(before: Any, after: Any, c: Any) -> bool:
    """More is acknowledged after the step than before."""
    return bool(after.acked & ~before.acked != 0)


def applies(c: Any) -> bool:
    """With acks=0 a producer asks for no answer."""
    return bool(c.acks != ACKS_NONE)


CLAIM = Reachable(
    name="record_acknowledged",
    sentence=first_sentence(__doc__),
    happens=happens,
    applies=applies,
)
