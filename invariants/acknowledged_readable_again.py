"""Once brokers are started again, all that was acknowledged can be read.

`acknowledged_durable` requires it of the current leader, this of any possible leader. If it breaks,
a record is lost for good, or some replica has it and none can serve it.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.contract import of_acknowledged
from waterline.invariants.current_leader import current_leader
from waterline.invariants.way_back import BY
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State
from waterline.model.message.terms import ACKS_NONE, NO_RECORD, NO_REPLICA, contains, without_member


def is_readable(s: Any, leader: int, bit: int) -> bool:
    """True if a record is below this leader's high watermark."""
    for offset in range(s.hw[leader]):
        if s.log[leader, offset] == bit + 1:
            return True
    return False


def good(s: Any, c: Any) -> bool:
    """The current leader shows all of them."""
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return False
    hidden: int = s.acked
    for offset in range(s.hw[leader]):
        if s.log[leader, offset] != NO_RECORD:
            hidden = without_member(hidden, s.log[leader, offset] - 1)
    return hidden == 0


def when(s: Any, c: Any) -> bool:
    """Some record was acknowledged."""
    return bool(s.acked != 0)


def explain(s: State, c: Any) -> str:
    """Name the record, and the replicas that have it."""
    leader = current_leader(s)
    for bit in range(s.produced):
        if contains(s.acked, bit) and (leader == NO_REPLICA or not is_readable(s, leader, bit)):
            having = [
                f"r{r}"
                for r in range(s.replicas)
                if any(s.log[r, offset] == bit + 1 for offset in range(s.leo[r]))
            ]
            return (
                f"m{bit + 1} was acknowledged; it is in "
                f"{'the log of ' + ' and '.join(having) if having else 'no log'}, and nobody comes "
                "to lead who shows it."
            )
    if s.acked >> s.produced != 0:  # without bounds what is nowhere has no name
        return "A record was acknowledged and is in no log any more."
    return "Everything acknowledged can be read."


def applies(c: Any) -> bool:
    """True if producers get acknowledgements at all."""
    return bool(c.acks != ACKS_NONE)


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=good,
    explain=explain,
    by=BY,
    when=when,
    applies=applies,
    contract=of_acknowledged,
    remark="All at once, from one leader, below its HW.",
    rank=340,
)
