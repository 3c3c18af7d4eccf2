"""Replicas outside the ISR that a leader's high watermark waits for: those that caught up lately.

A replica that caught up will join the ISR in a moment, so the high watermark should not run away
from it (KAFKA-4485, 0.10.2.0, Partition.maybeIncrementLeaderHW). The wait does not affect safety: a
slow network could do the same. It is modelled only if requested, since it decides whether the high
watermark ever catches up. Time is not modelled: a replica that lacks records may exceed
replica.lag.time.max.ms at any moment after it caught up.

By KIP-903 neither the wait nor an expansion uses a fetch from before the follower's last
registration, as far as the leader knows it (Partition.isBrokerEpochIsrEligible).

In Kafka a replica that reached the leader's LEO at its previous fetch counts as well; here it has
to reach the current LEO (Replica.updateFetchStateOrThrow).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.controller import unavailable
from waterline.model.message.features import (
    BROKER_EPOCH,
    COORDINATOR,
    FENCED_CHECK,
    FRESH_ON_EVERY_NOTICE,
    KRAFT,
    SHRINK_RAISES_EPOCH,
    has,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import LEADER, contains, with_member, without_member


def note_catching_up(s: Any, c: Settings, leader: int, follower: int, stale: int) -> None:
    """A fetch from the leader's LEO: the follower has everything (Replica.lastCaughtUpTimeMs).

    `stale`: the fetch carries the broker epoch of an earlier registration. It is then taken for the
    one that a leader goes by who has not read of the last.
    """
    if c.caught_up_wait == 0:
        return
    if s.remote_leo[leader, follower] == s.leo[leader]:
        s.caught_up[leader] = with_member(s.caught_up[leader], follower)
    if not has(c, BROKER_EPOCH):
        return
    s.fetched_since[leader] = without_member(s.fetched_since[leader], follower)
    if stale == 0:
        s.fetched_since[leader] = with_member(s.fetched_since[leader], follower)
    s.broker_epoch_matches[leader] = without_member(s.broker_epoch_matches[leader], follower)
    if contains(s.read_registrations[leader], follower) == (stale == 0):
        s.broker_epoch_matches[leader] = with_member(s.broker_epoch_matches[leader], follower)


def note_registration(s: Any, c: Settings, replica: int) -> None:
    """A broker registers anew: no leader's metadata has that yet, and no fetch carries it."""
    if c.caught_up_wait == 0:
        return
    for leader in range(s.replicas):
        if s.role[leader] == LEADER:
            s.read_registrations[leader] = without_member(s.read_registrations[leader], replica)
            s.fetched_since[leader] = without_member(s.fetched_since[leader], replica)


def misses_registration(s: Any, c: Settings, leader: int) -> bool:
    """True if a broker has registered since the leader last read of brokers."""
    if not has(c, BROKER_EPOCH):
        return False
    others = with_member(s.read_registrations[leader], leader)
    return bool(others != (1 << s.replicas) - 1)


def read_brokers(s: Any, c: Settings, leader: int) -> None:
    """The leader's metadata is that of now, as to brokers."""
    s.seen_unavailable[leader] = unavailable(s)
    if has(c, BROKER_EPOCH):
        s.read_registrations[leader] = without_member((1 << s.replicas) - 1, leader)
        s.broker_epoch_matches[leader] = s.fetched_since[leader]


def forget_broker_epochs(s: Any, c: Settings, leader: int) -> None:
    """No follower has fetched yet: none is known by a broker epoch (Replica.resetReplicaState)."""
    if c.caught_up_wait == 1:
        s.fetched_since[leader] = 0
        s.broker_epoch_matches[leader] = 0


def begin_to_watch(s: Any, c: Settings, leader: int, isr: int, is_new_epoch: bool) -> None:
    """In a new epoch the members of the ISR count as just caught up, and no other replica does.

    The metadata that names the leader also says which brokers are down. (Partition.makeLeader,
    Replica.resetReplicaState) With new objects for the followers, none has ever caught up.
    """
    if c.caught_up_wait == 1:
        if has(c, FRESH_ON_EVERY_NOTICE):
            s.caught_up[leader] = 0
        elif is_new_epoch:
            s.caught_up[leader] = without_member(isr, leader)
        read_brokers(s, c, leader)


def waits_for(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """True if the high watermark waits for this follower although it is not in the ISR.

    Since fencing a member raises no epoch, it waits only for followers that may join, as far as the
    leader knows (KAFKA-15021, 3.6.0, shouldWaitForReplicaToJoinIsr).
    """
    if c.caught_up_wait == 0 or not contains(s.caught_up[leader], follower):
        return False
    if has(c, COORDINATOR):
        return is_eligible(s, c, leader, follower)
    if not has(c, KRAFT) or has(c, SHRINK_RAISES_EPOCH):
        return True
    return is_eligible(s, c, leader, follower)


def may_join(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """True if a leader believes that the controller would have this follower in the ISR.

    Its own metadata decides, and only since 3.3. (Partition.canAddReplicaToIsr, KAFKA-13916)
    """
    if c.caught_up_wait == 0 or not has(c, FENCED_CHECK):
        return True
    return is_eligible(s, c, leader, follower)


def is_eligible(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """The follower is up and has not registered since its last fetch, by the leader's metadata.

    (Partition.isReplicaIsrEligible)
    """
    if contains(s.seen_unavailable[leader], follower):
        return False
    return not has(c, BROKER_EPOCH) or contains(s.broker_epoch_matches[leader], follower)
