"""No follower asks for an epoch's end and has to ask the same again.

That would go on forever: a question and its answer that change nothing can be repeated, and the
follower never fetches. It ends only when the leader changes. (KAFKA-10706)
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.epochs import latest_epoch
from waterline.model.message.features import TRUNCATION_CLEARS_EPOCHS, has
from waterline.model.message.terms import (
    NO_EPOCH,
    TRUNCATE_BY_EPOCHS,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATING,
)
from waterline.model.message.truncation import (
    can_offset_for_leader_epoch,
    end_offset_for,
    truncation_point,
)


def asks_in_vain(s: Any, c: Any, follower: int) -> bool:
    """True if the current answer would change nothing, so that the follower asks again."""
    if s.role[follower] != TRUNCATING or not can_offset_for_leader_epoch(s, c, follower):
        return False
    leader = s.known_leader[follower]
    epoch, end = end_offset_for(s, c, leader, latest_epoch(s, c, follower))
    cut, agreed = truncation_point(s, c, follower, epoch, end)
    if agreed == 1 or cut < s.leo[follower]:
        return False
    return not has(c, TRUNCATION_CLEARS_EPOCHS) or s.cached_epoch[follower] == NO_EPOCH


def holds(s: Any, c: Any) -> bool:
    """No follower asks in vain."""
    for follower in range(s.replicas):
        if asks_in_vain(s, c, follower):
            return False
    return True


def explain(s: State, c: Any) -> str:
    """Name the follower that asks, and the answer."""
    for follower in range(s.replicas):
        if asks_in_vain(s, c, follower):
            leader, asked = s.known_leader[follower], latest_epoch(s, c, follower)
            epoch, end = end_offset_for(s, c, leader, asked)
            return (
                f"r{follower} asks r{leader} where epoch {asked} ends; the answer is {end}, for "
                f"epoch {epoch}: r{follower} truncates nothing, and asks the same again."
            )
    return "Every answer leads on."


def applies(c: Any) -> bool:
    """True if a follower may ask more than once."""
    return c.truncation in (TRUNCATE_BY_EPOCHS, TRUNCATE_BY_EPOCHS_2_0)


CLAIM = Invariant(
    *headline(__name__, __doc__),
    holds=holds,
    explain=explain,
    applies=applies,
    remark="KAFKA-10706. Such a follower never fetches until the leader changes. Applies where "
    "epochs are asked for repeatedly (KIP-279).",
    rank=168,
)
