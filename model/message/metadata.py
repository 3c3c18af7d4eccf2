"""A broker learns what the controller decided (LeaderAndIsr; under KRaft the metadata log).

It learns the latest decision; decisions in between are skipped, which is what a lost request
amounts to. Where late metadata is asked for, an earlier one may still arrive.
"""

from __future__ import annotations

from typing import Any

from model.message.epochs import unwritten_epoch
from model.message.features import (
    EPOCH_ON_LEADING,
    EVERY_EPOCH,
    FENCING,
    FRESH_REMOTE_LEO,
    FRESH_REMOTE_LEO_AFTER_GAP,
    KRAFT,
    has,
)
from model.message.high_watermark import advance_high_watermark
from model.message.roles import abandon_fetch, follows, lay_down_role
from model.message.settings import Settings
from model.message.terms import LEADER, NO_EPOCH, NO_REPLICA, UNKNOWN_OFFSET, contains
from model.message.truncation import begin_to_follow, keeps_epochs


def can_learn(s: Any, c: Settings, replica: int) -> bool:
    """A running broker has not seen the current partition state, and there is a leader in it.

    With ZooKeeper the controller sends nothing to a broker that it takes for down.
    """
    if s.up[replica] == 0 or s.leader == NO_REPLICA:
        return False
    if contains(s.fenced, replica) and not has(c, KRAFT):
        return False
    if s.known_epoch[replica] < s.epoch:
        return True
    return s.role[replica] == LEADER and s.outdated[replica] == 1


def learn(s: Any, c: Settings, replica: int) -> None:
    """The broker becomes leader, or follower, or carries on in the new epoch.

    (ReplicaManager.makeLeaders and makeFollowers, applyDelta under KRaft)
    """
    take_up(s, c, replica, s.leader, s.epoch, s.isr)


def can_learn_late(s: Any, c: Settings, replica: int, epoch: int) -> bool:
    """A decision of the past is newer than what the broker knows.

    What was on its way to a broker that crashed is lost (and refused since KIP-380): the first that
    it learns after a restart is the latest.
    """
    if s.up[replica] == 0 or s.known_epoch[replica] == NO_EPOCH:
        return False
    if epoch >= s.epoch or epoch <= s.known_epoch[replica]:
        return False
    return s.decided_leader[epoch] != NO_REPLICA


def learn_late(s: Any, c: Settings, replica: int, epoch: int) -> None:
    """As `learn`, but from a request that was long on its way; a broker cannot know that."""
    take_up(s, c, replica, s.decided_leader[epoch], epoch, s.decided_isr[epoch])


def take_up(s: Any, c: Settings, replica: int, leader: int, epoch: int, isr: int) -> None:
    """Act on a decision: this leader, in this epoch, with this ISR."""
    if leader == replica:
        become_leader(s, c, replica, epoch, isr)
    elif not has(c, EVERY_EPOCH) and follows(s, replica) and s.known_leader[replica] == leader:
        # The leader is still the same broker: nothing is truncated, however many epochs were
        # missed (KAFKA-7164). A fetch in flight stays valid, unless it carries the old epoch.
        if has(c, FENCING):
            abandon_fetch(s, c, replica)
        s.known_epoch[replica] = epoch
    else:
        become_follower(s, c, replica, leader, epoch)


def become_leader(s: Any, c: Settings, replica: int, epoch: int, isr: int) -> None:
    """Lead in this epoch; a new leader knows no follower's LEO yet.

    One that already led keeps what it knows, also where somebody else led in between and it never
    heard of it (Partition.makeLeader, isNewLeader; so up to Kafka 4.0 at least).
    """
    if s.role[replica] != LEADER:
        lay_down_role(s, c, replica)
        s.role[replica] = LEADER
    elif forgets_remote_leos(s, c, replica, epoch):
        for follower in range(s.replicas):
            s.remote_leo[replica, follower] = UNKNOWN_OFFSET
    s.known_isr[replica] = isr
    s.pending_isr[replica] = 0
    s.pending_stale[replica] = 0
    s.outdated[replica] = 0
    s.known_epoch[replica] = epoch
    advance_high_watermark(s, c, replica)


def forgets_remote_leos(s: Any, c: Settings, replica: int, epoch: int) -> bool:
    """Whether one that leads on in this epoch doubts what its followers had; no Kafka from 0.9 on.

    If somebody else led in between at least one epoch is missing; the reverse need not be so.
    """
    if has(c, FRESH_REMOTE_LEO):
        return epoch > s.known_epoch[replica]
    return has(c, FRESH_REMOTE_LEO_AFTER_GAP) and epoch > s.known_epoch[replica] + 1


def become_follower(s: Any, c: Settings, replica: int, leader: int, epoch: int) -> None:
    """Follow a leader: cut the log, or find out where to (`model.message.truncation`).

    A leader that has written nothing leaves its epoch in its cache.
    """
    led_in = NO_EPOCH
    if has(c, EPOCH_ON_LEADING) and keeps_epochs(c):
        led_in = unwritten_epoch(s, replica)
    lay_down_role(s, c, replica)
    s.known_epoch[replica] = epoch
    begin_to_follow(s, c, replica)
    s.known_leader[replica] = leader
    s.cached_epoch[replica] = led_in
