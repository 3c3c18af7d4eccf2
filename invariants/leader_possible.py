"""Some replica leads, or could be elected by this version's rules once it is back.

A claim about availability, which no claim about loss implies: with ELR the ISR may become empty,
and every broker that comes back from a crash leaves the ELR. Without ELR the last member stays in
the ISR, and since Kafka 4.0 the last known leader is elected, so the claim always holds there. It
does not say that there is a leader now, nor that a possible leader has what was acknowledged.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.electable import electable
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State


def holds(s: Any, c: Any) -> bool:
    """Some replica is electable."""
    return electable(s, c) != 0


def explain(s: State, c: Any) -> str:
    """Say that no member of ISR and ELR could come back as leader."""
    if electable(s, c) != 0:
        return "Somebody leads or can be elected."
    return (
        "Nobody leads and nobody can be elected any more, whoever comes back: only an unclean "
        "election ends this."
    )


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    default=False,
    breach=Breach(
        word="no leader",
        sentence="no replica leads, and none can be elected any more",
        severity=8,
    ),
    reasons=("distrusts", "leads_alone"),
    remark="On request: it is about availability, not about loss. Does not say that somebody "
    "leads now, or that who may lead has everything.",
    rank=50,
)
