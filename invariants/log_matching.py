"""Any two running replicas have the same records below both their HWs.

The leader and its epoch do not matter: what each takes for committed is the same.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.contract import of_committed
from waterline.invariants.no_divergence_below_hw import first_difference
from waterline.model.core.claim import Breach, Invariant, headline
from waterline.model.core.state import State


def holds(s: Any, c: Any) -> bool:
    """No two running replicas differ below both high watermarks."""
    for one in range(s.replicas):
        if s.up[one] == 1 and s.hw[one] > 0:
            for other in range(one):
                if s.up[other] == 1 and first_difference(s, one, other) >= 0:
                    return False
    return True


def explain(s: State, c: Any) -> str:
    """Name two brokers, the offset, and the records there."""
    for other in range(s.replicas):
        for one in range(other):
            offset = first_difference(s, one, other)
            if s.up[one] == 1 and s.up[other] == 1 and offset >= 0:
                return (
                    f"At offset {offset} r{one} has m{s.log[one, offset]} and r{other} has "
                    f"m{s.log[other, offset]}; each takes its own for committed: their high "
                    f"watermarks are {s.hw[one]} and {s.hw[other]}."
                )
    return "No two logs differ below both high watermarks."


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    contract=of_committed,
    breach=Breach(
        word="parts",
        sentence="two replicas differ in what both take for committed",
        severity=6,
    ),
    remark="Of all that run, whoever leads: also of one that has not heard of the leader yet. Says "
    "nothing about replicas that are down.",
    rank=62,
)
