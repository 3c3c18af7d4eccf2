"""Whom a leader's high watermark waits for outside the ISR: who caught up lately.

A replica that caught up will join the ISR in a moment, so that the high watermark should not run
away from it (KAFKA-4485, 0.10.2.0, Partition.maybeIncrementLeaderHW). For
safety the wait changes nothing that a slow network could not do, so that it is modelled only where
it is asked for: whether the high watermark ever catches up depends on it. Time is not modelled: a
replica that lacks records may exceed replica.lag.time.max.ms at any moment after it caught up.

One that reached the LEO which the leader had at its fetch before counts as well in Kafka; here it
has to reach the LEO of now (Replica.updateFetchStateOrThrow).
"""

from __future__ import annotations

from typing import Any

from model.message.controller import unavailable
from model.message.features import FENCED_CHECK, KRAFT, SHRINK_RAISES_EPOCH, has
from model.message.settings import Settings
from model.message.terms import contains, with_member, without_member


def note_catching_up(s: Any, c: Settings, leader: int, follower: int) -> None:
    """A fetch from the leader's LEO: the follower has everything (Replica.lastCaughtUpTimeMs)."""
    if c.caught_up_wait == 1 and s.remote_leo[leader, follower] == s.leo[leader]:
        s.caught_up[leader] = with_member(s.caught_up[leader], follower)


def begin_to_watch(s: Any, c: Settings, leader: int, isr: int, is_new_epoch: bool) -> None:
    """In a new epoch the members of the ISR have caught up now, and nobody else ever has.

    The metadata that says who leads says as well who is down. (Partition.makeLeader,
    Replica.resetReplicaState)
    """
    if c.caught_up_wait == 1:
        if is_new_epoch:
            s.caught_up[leader] = without_member(isr, leader)
        s.seen_unavailable[leader] = unavailable(s)


def waits_for(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """Whether the high watermark waits for this follower although it is not in the ISR.

    Since fencing a member raises no epoch it does not wait for who is fenced, as far as the leader
    knows (KAFKA-15021, 3.6.0, shouldWaitForReplicaToJoinIsr).
    """
    if c.caught_up_wait == 0 or not contains(s.caught_up[leader], follower):
        return False
    if not has(c, KRAFT) or has(c, SHRINK_RAISES_EPOCH):
        return True
    return not contains(s.seen_unavailable[leader], follower)


def may_join(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """Whether a leader takes a follower for one that the controller would have in the ISR.

    By its own metadata, and only since 3.3. (Partition.canAddReplicaToIsr, KAFKA-13916)
    """
    if c.caught_up_wait == 0 or not has(c, FENCED_CHECK):
        return True
    return not contains(s.seen_unavailable[leader], follower)
