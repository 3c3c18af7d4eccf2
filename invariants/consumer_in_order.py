"""The consumer never reads on over records that it has not seen.

It follows the offset alone, unless it checks the epoch of the last record read (KIP-320). Not
claimed without a consumer.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State


def holds(s: Any, c: Any) -> bool:
    """The consumer has never read on over unseen records."""
    return bool(s.misread == 0)


def explain(s: State, c: Any) -> str:
    """Describe the last record read."""
    return (
        f"The consumer read m{s.last_consumed} at offset {s.consumed - 1} and then went on at "
        f"{s.consumed} in a log that has another record below."
    )


def applies(c: Any) -> bool:
    """True if there is a consumer."""
    return bool(c.consumer == 1)


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=applies,
    reasons=("consumes",),
    remark="Applies with `--consumer`. Does not say that what it read is kept.",
    rank=80,
)
