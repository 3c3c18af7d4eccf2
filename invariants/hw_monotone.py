"""While a broker stays leader, its high watermark never falls.

Of one leader in one epoch, a step at a time. Says nothing about a follower, whose high watermark is
what its leader tells it and may fall, nor about what consumers see across a failover.
"""

from __future__ import annotations

from typing import Any

from model.kit.claim import ActionProperty
from model.kit.state import State
from model.message.terms import LEADER, NO_REPLICA


def first_fallen(s: Any, t: Any) -> int:
    """The first broker that leads the same epoch before and after, and has a lower HW after."""
    for r in range(s.replicas):
        if s.role[r] == LEADER and t.role[r] == LEADER and s.known_epoch[r] == t.known_epoch[r]:
            if t.hw[r] < s.hw[r]:
                return r
    return NO_REPLICA


def keeps(s: Any, t: Any, c: Any) -> bool:
    """No leader's high watermark falls."""
    return first_fallen(s, t) == NO_REPLICA


def explain(s: State, t: State, c: Any) -> str:
    """Whose high watermark falls, and how far."""
    r = first_fallen(s, t)
    if r == NO_REPLICA:
        return "No leader's high watermark falls."
    return (
        f"r{r} stays leader of epoch {s.known_epoch[r]}, and its high watermark falls from "
        f"{s.hw[r]} to {t.hw[r]}."
    )


CLAIM = ActionProperty(
    name="hw_monotone",
    sentence="While a broker stays leader, its high watermark never falls.",
    keeps=keeps,
    explain=explain,
    remark="A claim about steps, within one leader epoch. Says nothing about a follower's "
    "HW, which may fall, nor of what a consumer sees across a failover.",
    rank=180,
)
