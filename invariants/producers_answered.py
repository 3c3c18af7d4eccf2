"""Who produces with acks=all is answered while its leader stays: with success, or with an error.

Not by a timeout: the model has none. Where this breaks the producer waits for delivery.timeout.ms
and learns nothing. A leader that goes takes the request with it; then nobody waits.
"""

from __future__ import annotations

from typing import Any

from model.kit.claim import Pattern, Temporal
from model.kit.state import State
from model.message.terms import ACKS_ALL, LEADER, contains


def waits(s: Any, c: Any) -> bool:
    """Somebody who leads, or believes so, owes an answer."""
    for leader in range(s.replicas):
        if s.role[leader] == LEADER and s.unanswered[leader] != 0:
            return True
    return False


def answered(s: Any, c: Any) -> bool:
    """Nobody does. Records are bounded, so that each is answered if this comes."""
    return not waits(s, c)


def explain(s: State, c: Any) -> str:
    """Whose request waits, for what."""
    for leader in range(s.replicas):
        if s.role[leader] == LEADER and s.unanswered[leader] != 0:
            ids = [f"m{b + 1}" for b in range(s.produced) if contains(s.unanswered[leader], b)]
            isr = [f"r{r}" for r in range(s.replicas) if contains(s.known_isr[leader], r)]
            return (
                f"r{leader} has HW {s.hw[leader]} and LEO {s.leo[leader]}, its ISR is "
                f"{', '.join(isr)}: {', '.join(ids)} is neither acknowledged nor refused."
            )
    return "Nobody waits."


def applies(c: Any) -> bool:
    """Only with acks=all does a producer wait."""
    return bool(c.acks == ACKS_ALL)


CLAIM = Temporal(
    name="producers_answered",
    sentence="A record produced with acks=all is acknowledged or refused, if its leader stays.",
    pattern=Pattern.LEADS_TO,
    when=waits,
    then=answered,
    explain=explain,
    applies=applies,
    remark="Otherwise than by a timeout. Applies with acks=all.",
    rank=400,
)
