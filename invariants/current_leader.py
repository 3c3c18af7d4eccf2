"""The broker that "the leader" of a claim means."""

from __future__ import annotations

from typing import Any

from waterline.model.message.terms import LEADER, NO_REPLICA


def current_leader(s: Any) -> int:
    """The controller's leader once it has taken up that very epoch, or NO_REPLICA.

    A stale leader that has not heard of its successor is not it, nor one that is down.
    """
    leader: int = s.leader
    if leader == NO_REPLICA or s.role[leader] != LEADER or s.known_epoch[leader] != s.epoch:
        return NO_REPLICA
    return leader
