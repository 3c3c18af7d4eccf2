"""A leader's high watermark never falls, nor does that of a broker that begins to lead.

Of one leader in one epoch, from one epoch to the next, and of a broker that begins to lead. Until
2.4 one that had truncated below its high watermark began at 0 (`truncation-lowers-hw`). Says
nothing about a follower, whose high watermark is what its leader tells it and may fall, nor about
what consumers see across a failover.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import ActionProperty, headline
from waterline.model.core.state import State
from waterline.model.message.terms import LEADER, NO_REPLICA


def first_fallen(s: Any, t: Any) -> int:
    """The first broker that leads after the step and had a higher HW before it."""
    for r in range(s.replicas):
        if t.role[r] == LEADER and t.hw[r] < s.hw[r]:
            return r
    return NO_REPLICA


def keeps(s: Any, t: Any, c: Any) -> bool:
    """No leader's high watermark falls."""
    return first_fallen(s, t) == NO_REPLICA


def explain(s: State, t: State, c: Any) -> str:
    """Name the leader whose high watermark falls, and say how far."""
    r = first_fallen(s, t)
    if r == NO_REPLICA:
        return "No leader's high watermark falls."
    stays = "stays leader of" if s.role[r] == LEADER else "begins to lead in"
    return (
        f"r{r} {stays} epoch {t.known_epoch[r]}, and its high watermark falls from "
        f"{s.hw[r]} to {t.hw[r]}."
    )


def where(s: State, t: State, c: Any) -> Breaking:
    """Locate the fall for a picture."""
    leader = first_fallen(s, t)
    return Breaking((leader,), tuple(range(t.hw[leader], s.hw[leader])))


CLAIM = ActionProperty(
    *headline(__name__, __doc__),
    keeps=keeps,
    explain=explain,
    where=where,
    reasons=("joins_without", "wrongly_believed"),
    remark="A claim about steps. Breaks where truncation leaves a high watermark above the log "
    "(until 2.4). Says nothing about a follower's HW, which may fall, nor of what a consumer sees "
    "across a failover.",
    rank=180,
)
