"""Once brokers are started again, a reassignment of a led partition can end.

It needs no cancellation, and no further request. `model.message.reassignment.completes` says what
ends it.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.way_back import BY, is_led
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State


def good(s: Any, c: Any) -> bool:
    """True if no replica is being added or removed."""
    return bool(s.adding == 0 and s.removing == 0)


def explain(s: State, c: Any) -> str:
    """Name the replicas being added, those being removed, and the ISR."""
    named = ", ".join(
        f"{word} {' '.join(f'r{r}' for r in range(s.replicas) if members >> r & 1) or 'none'}"
        for word, members in (("adding", s.adding), ("removing", s.removing), ("ISR", s.isr))
    )
    return f"The reassignment cannot end by itself: {named}."


def applies(c: Any) -> bool:
    """True if replicas are reassigned."""
    return bool(c.reassignments > 0)


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=good,
    explain=explain,
    by=BY,
    when=is_led,
    applies=applies,
    remark="Only with reassignments. The operator can always cancel it.",
    rank=345,
)
