"""A broker learns the controller's decisions (LeaderAndIsr; under KRaft the metadata log).

It learns the latest decision and skips those in between, as after a lost request. With late
metadata, an earlier decision may still arrive.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import assigned_replicas, learn_replicas
from waterline.model.message.caught_up import begin_to_watch, forget_broker_epochs
from waterline.model.message.directories import clear_future_log, hear_of_epoch
from waterline.model.message.epochs import is_next_epoch
from waterline.model.message.features import (
    COORDINATOR,
    EVERY_EPOCH,
    FOLLOWER_HW_AT_END,
    FRESH_ON_EVERY_NOTICE,
    FRESH_REMOTE_LEO,
    FRESH_REMOTE_LEO_AFTER_GAP,
    FRESH_REPLICAS,
    KRAFT,
    TRUNCATE_AFTER_GAP,
    TRUNCATION_LOWERS_HW,
    has,
)
from waterline.model.message.fetch import fences_fetches
from waterline.model.message.high_watermark import advance_high_watermark, expose
from waterline.model.message.leaderless import entry_left_behind, follow_nobody, tells_of_no_leader
from waterline.model.message.partition_state import forget_request
from waterline.model.message.roles import (
    abandon_fetch,
    end_epoch,
    follows,
    lay_down_role,
    replace_replicas,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    GRANTED,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
    NOTHING_TO_REPLAY,
    UNKNOWN_OFFSET,
    contains,
)
from waterline.model.message.truncation import begin_to_follow, truncate


def can_learn(s: Any, c: Settings, replica: int) -> bool:
    """A running broker has not seen the current partition state, and there is a leader in it.

    With ZooKeeper the controller sends nothing to a broker that it takes for down, and nothing of a
    partition without a leader; Fluss's coordinator sends that, and nothing to who is about to stop
    (CoordinatorRequestBatch.addNotifyLeaderRequestForTabletServers). A leader whose request to
    change the ISR was granted may learn of it from the metadata before the answer arrives.
    """
    if not contains(assigned_replicas(s, c), replica):
        return s.up[replica] == 1 and hears_of_removal(s, c, replica)
    if s.up[replica] == 0 or (s.leader == NO_REPLICA and not tells_of_no_leader(c)):
        return False
    unheard = s.stopping if has(c, COORDINATOR) else 0
    if not has(c, KRAFT):
        unheard |= s.fenced
    if contains(unheard, replica):
        return False
    if s.known_epoch[replica] < s.epoch:
        return True
    if s.role[replica] != LEADER:
        return False
    return s.outdated[replica] == 1 or (has(c, KRAFT) and s.answer[replica] == GRANTED)


def hears_of_removal(s: Any, c: Settings, replica: int) -> bool:
    """True if a broker that has been removed still acts as a replica, or has something of the log.

    With ZooKeeper the request to delete it goes once, to a broker that the controller takes to be
    alive (StopReplica); a log found in a directory at a start stays there.
    """
    if not has(c, KRAFT):
        return s.role[replica] != NO_ROLE and not contains(s.fenced, replica)
    if s.role[replica] != NO_ROLE or s.known_epoch[replica] != NO_EPOCH:
        return True
    return s.leo[replica] > 0 or s.hw[replica] > 0 or s.checkpoint[replica] > 0


def delete_replica(s: Any, c: Settings, replica: int) -> None:
    """Delete the log, and all that the broker knows of the partition.

    A broker that reads its removal and its return in one metadata delta does not come here, nor
    does one that is down meanwhile: both keep the log. (TopicDelta.localChanges,
    ReplicaManager.applyDelta, stopPartitions; at a start LogManager.isStrayReplica)
    """
    lay_down_role(s, c, replica)
    truncate(s, c, replica, 0)
    s.known_epoch[replica] = NO_EPOCH
    s.hw[replica] = 0
    s.checkpoint[replica] = 0
    if c.future_log == 1:
        clear_future_log(s, replica)


def learn(s: Any, c: Settings, replica: int) -> None:
    """The broker becomes leader, or follower, or carries on in the new epoch.

    (ReplicaManager.makeLeaders and makeFollowers, applyDelta under KRaft)
    """
    if not contains(assigned_replicas(s, c), replica):
        delete_replica(s, c, replica)
    else:
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
    return s.decided_leader[epoch] != NO_REPLICA or tells_of_no_leader(c)


def learn_late(s: Any, c: Settings, replica: int, epoch: int) -> None:
    """As `learn`, but from a request that was in flight for long; a broker cannot know that."""
    take_up(s, c, replica, s.decided_leader[epoch], epoch, s.decided_isr[epoch])


def take_up(s: Any, c: Settings, replica: int, leader: int, epoch: int, isr: int) -> None:
    """Act on a decision: this leader, in this epoch, with this ISR."""
    is_new = epoch > s.known_epoch[replica]
    if leader == NO_REPLICA:
        follow_nobody(s, c, replica, epoch)
    elif leader == replica:
        become_leader(s, c, replica, epoch, isr)
    elif stays_follower(s, c, replica, leader, epoch):
        # A fetch in flight stays valid, unless it carries the old epoch.
        if fences_fetches(c):
            abandon_fetch(s, c, replica)
        s.known_epoch[replica] = epoch
    else:
        become_follower(s, c, replica, leader, epoch)
    if is_new:
        hear_of_epoch(s, c, replica)


def stays_follower(s: Any, c: Settings, replica: int, leader: int, epoch: int) -> bool:
    """True if the leader is still the same broker, so that nothing is truncated (KAFKA-7164).

    Missed epochs do not matter; but 2.0.1 truncates after at least one, and 2.1 always.
    """
    if has(c, EVERY_EPOCH) or not follows(s, replica) or s.known_leader[replica] != leader:
        return False
    return not has(c, TRUNCATE_AFTER_GAP) or is_next_epoch(epoch, s.known_epoch[replica])


def become_leader(s: Any, c: Settings, replica: int, epoch: int, isr: int) -> None:
    """Lead in this epoch; a new leader knows no follower's LEO yet.

    A leader that already led keeps its knowledge, even if another led in between and it never heard
    of that (Partition.makeLeader, isNewLeader; so up to Kafka 4.4 at least). Until 2.4 a high
    watermark above the LEO, left by truncation, becomes 0 (Replica.convertHWToLocalOffsetMetadata).
    Fluss up to 0.9.1 makes new objects for its followers with every notice, also in the same epoch.
    """
    if s.role[replica] != LEADER:
        lay_down_role(s, c, replica)
        s.role[replica] = LEADER
        if not has(c, TRUNCATION_LOWERS_HW) and s.hw[replica] > s.leo[replica]:
            s.hw[replica] = 0
    elif has(c, FRESH_ON_EVERY_NOTICE):
        forget_followers(s, c, replica)
    elif epoch > s.known_epoch[replica]:
        end_epoch(s, c, replica)
        if has(c, FRESH_REPLICAS):
            replace_replicas(s, c, replica)
        if forgets_remote_leos(s, c, replica, epoch):
            for follower in range(s.replicas):
                s.remote_leo[replica, follower] = UNKNOWN_OFFSET
            forget_broker_epochs(s, c, replica)
    learn_replicas(s, c, replica)
    begin_to_watch(s, c, replica, isr, epoch > s.known_epoch[replica])
    s.known_isr[replica] = isr
    forget_request(s, replica)
    s.replay[replica] = NOTHING_TO_REPLAY
    s.replay_isr[replica] = 0
    s.outdated[replica] = 0
    if epoch > s.known_epoch[replica]:
        s.entry_lost[replica] = 0
    s.known_epoch[replica] = epoch
    if has(c, FOLLOWER_HW_AT_END):
        # Its high watermark as a follower was nobody's before: consumers read up to it from now on.
        expose(s, replica, s.hw[replica])
    advance_high_watermark(s, c, replica)


def forget_followers(s: Any, c: Settings, replica: int) -> None:
    """New objects for the followers: no LEO is known, and none has caught up lately.

    (Fluss 0.9.1, Replica.updateAssignmentAndIsr, FollowerReplicaState.EMPTY)
    """
    end_epoch(s, c, replica)
    replace_replicas(s, c, replica)
    for follower in range(s.replicas):
        s.remote_leo[replica, follower] = UNKNOWN_OFFSET
    forget_broker_epochs(s, c, replica)


def forgets_remote_leos(s: Any, c: Settings, replica: int, epoch: int) -> bool:
    """True if a leader of a later epoch forgets its followers' LEOs; no Kafka from 0.9 does.

    If another broker led in between, at least one epoch is missing; the reverse need not hold.
    """
    if has(c, FRESH_REMOTE_LEO) or has(c, FRESH_REPLICAS):
        return True
    if not has(c, FRESH_REMOTE_LEO_AFTER_GAP):
        return False
    return not is_next_epoch(epoch, s.known_epoch[replica])


def become_follower(s: Any, c: Settings, replica: int, leader: int, epoch: int) -> None:
    """Follow a leader: cut the log, or find out where to (`model.message.truncation`)."""
    led_in = entry_left_behind(s, c, replica)
    lay_down_role(s, c, replica)
    s.known_epoch[replica] = epoch
    begin_to_follow(s, c, replica)
    s.known_leader[replica] = leader
    s.cached_epoch[replica] = led_in
