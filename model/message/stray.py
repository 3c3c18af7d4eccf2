"""A fetch that has outlived its sender, or its sender's change of leader, reaches its receiver.

Before KIP-320 the receiver cannot distinguish it from a current fetch. Its answer is lost.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.features import DIVERGING_GUARD, STALE_FETCH_CHECK, has
from waterline.model.message.fetch import is_out_of_range, observe_fetch, takes_fetch
from waterline.model.message.roles import drop_stray
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_REPLICA, contains
from waterline.model.message.truncation import diverges


def can_stray_fetch(s: Any, c: Settings, follower: int) -> bool:
    """An old fetch of this broker is in flight, and its receiver would not refuse it."""
    if s.stray_from != follower or not takes_fetch(s, c, s.stray_to, follower, s.stray_epoch):
        return False
    if (
        has(c, STALE_FETCH_CHECK)
        and s.stray_stale == 1
        and knows_registration(s, s.stray_to, follower)
    ):
        return False
    offset, last_epoch = s.stray_offset, s.stray_last_epoch
    if diverges(s, c, s.stray_to, offset, last_epoch):
        return not has(c, DIVERGING_GUARD)
    return not is_out_of_range(s, c, s.stray_to, offset, last_epoch)


def knows_registration(s: Any, leader: int, follower: int) -> bool:
    """True if a fetch's receiver must have heard that the sender has registered anew since.

    A leader refuses a fetch with a broker epoch older than the one in its metadata
    (Replica.updateFetchStateOrThrow). Metadata may lag, but not behind what the leader itself used
    when it proposed the follower for the ISR.
    """
    proposed = contains(s.known_isr[leader] | s.pending_isr[leader], follower)
    return proposed and s.outdated[leader] == 0


def stray_fetch(s: Any, c: Settings, follower: int) -> None:
    """The receiver takes the old fetch for what the follower has: remote LEO, ISR, HW."""
    observe_fetch(s, c, s.stray_to, follower, s.stray_offset, s.stray_stale)
    drop_stray(s)


def can_lose_stray(s: Any, c: Settings) -> bool:
    """An old fetch is in flight."""
    return s.stray_from != NO_REPLICA


def lose_stray(s: Any, c: Settings) -> None:
    """The old fetch never arrives, or is refused."""
    drop_stray(s)
