"""Once brokers are started again, the partition can have a leader that knows it.

Stronger than `leader_possible`, which only requires a replica that the rules could elect: here one
really comes to lead. Without an unclean election, unless the topic allows that.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.electable import electable
from waterline.invariants.outside import Seen
from waterline.invariants.way_back import BY, is_led
from waterline.model.core.claim import Recoverable, headline
from waterline.model.core.state import State


def explain(s: State, c: Any) -> str:
    """Name the replicas that could be elected if they were back."""
    if is_led(s, c):
        return f"r{s.leader} leads."
    if electable(s, c) == 0:
        return (
            "Nobody leads, and nobody is left to be elected: whoever is of the ISR or the ELR has "
            "crashed, and leaves both as it comes back. Only an unclean election ends this."
        )
    return "Nobody leads, and whoever could be elected does not come to lead."


def outside(seen: Seen) -> bool:
    """The controller's leader runs, and knows that it leads."""
    return seen.leader in seen.logs and seen.leads


CLAIM = Recoverable(
    *headline(__name__, __doc__),
    good=is_led,
    explain=explain,
    by=BY,
    outside=outside,
    remark="Says nothing of what that leader has lost. With unclean election on, an election may "
    "be unclean.",
    rank=300,
)
