"""The partition's state as the controller keeps it: leader, leader epoch, ISR and ELR.

Every change is one write, in ZooKeeper or in KRaft's metadata log. With ZooKeeper each change by
the controller raises the leader epoch, so that knowing the epoch is knowing the state. Under KRaft
a change of leader does; a partition epoch counts all changes, and all that is ever asked of it is
whether a leader's is the current one, which is what `outdated` keeps.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import assigned_replicas, controller_min_isr
from waterline.model.message.features import (
    ELR,
    LAST_KNOWN_LEADER,
    LOST_DIRECTORY_IS_UNCLEAN,
    NEW_DIRECTORY_EMPTIES_ELR,
    has,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    DIRECTORY_FAILED,
    GRANTED,
    LEADER,
    NO_ANSWER,
    NO_REPLICA,
    UNCLEAN,
    WITHOUT_DIRECTORY,
    contains,
    size,
    without_member,
)


def begin_epoch(s: Any, c: Settings) -> None:
    """A leader epoch begins; to be called before anything else of the partition changes.

    The epoch distinguishes the leader of before now: that it is outdated says nothing more.
    """
    if c.late_metadata == 1:
        s.decided_leader[s.epoch] = s.leader
        s.decided_isr[s.epoch] = s.isr
    s.epoch = s.epoch + 1
    for replica in range(s.replicas):
        if s.role[replica] == LEADER:
            s.outdated[replica] = 0
            lose_disowned(s, replica)


def has_room(s: Any, begun: int) -> bool:
    """True if the model has room for so many more epochs. It bounds a search, and is not a rule."""
    return s.epoch + begun <= s.epochs


def write_isr(s: Any, c: Settings, members: int) -> None:
    """Write another ISR. A replica that leaves one that is too small stays eligible (KIP-966).

    With the last member its leader goes, and is remembered until a replica leads
    (PartitionChangeBuilder.maybeUpdateLastKnownLeader).
    """
    if has(c, ELR):
        s.elr = elr_beside(s, c, members)
    if has(c, LAST_KNOWN_LEADER) and members == 0:
        s.last_leader = s.leader
    s.isr = members


def elr_beside(s: Any, c: Settings, members: int) -> int:
    """The ELR that goes with this next ISR; empty if the ISR is large enough.

    The controller's min.insync.replicas decides. Members that are not replicas stay.
    """
    if size(members) >= controller_min_isr(s, c):
        return 0
    eligible: int = (s.elr | s.isr) & ~members
    return eligible


def leaves_elr(s: Any, c: Settings, replica: int) -> bool:
    """True if a broker that is down leaves the ELR as it comes back: it may have lost records.

    It did not shut down properly (ReplicationControlManager.handleBrokerShutdown), or, by a
    proposed rule, lacks the log directory of before.
    """
    if not has(c, ELR):
        return False
    if s.unclean[replica] == UNCLEAN or s.unclean[replica] == DIRECTORY_FAILED:
        return True
    return s.unclean[replica] == WITHOUT_DIRECTORY and has(c, LOST_DIRECTORY_IS_UNCLEAN)


def elr_on_return(s: Any, c: Settings, replica: int, elr: int) -> int:
    """The ELR after the broker comes back.

    Until 4.2 the report of another directory empties it, if the broker is still a replica
    (handleAssignReplicasToDirs). Kafka elects no broker before that report, so here it comes with
    the registration.
    """
    if has(c, NEW_DIRECTORY_EMPTIES_ELR) and s.unclean[replica] == WITHOUT_DIRECTORY:
        if contains(assigned_replicas(s, c), replica):
            return 0
    return without_member(elr, replica) if leaves_elr(s, c, replica) else elr


def can_write_min_isr(s: Any, c: Settings) -> bool:
    """The controller has an ELR, or a last known leader."""
    return s.elr != 0 or (has(c, LAST_KNOWN_LEADER) and s.last_leader != NO_REPLICA)


def write_min_isr(s: Any, c: Settings) -> None:
    """min.insync.replicas is written, perhaps with the value that it has: the ELR is emptied.

    The last known leader is forgotten, too. (ClearElrRecord, TopicDelta.replay,
    ConfigurationControlManager.maybeTriggerMinIsrConfigUpdate)
    """
    s.elr = 0
    if has(c, LAST_KNOWN_LEADER):
        s.last_leader = NO_REPLICA
    outdate_leader(s)


def outdate_leader(s: Any) -> None:
    """The partition changes within the epoch, and its leader has not heard of it yet (KRaft)."""
    for replica in range(s.replicas):
        if s.role[replica] == LEADER and s.known_epoch[replica] == s.epoch:
            s.outdated[replica] = 1
            lose_disowned(s, replica)


def knows_partition(s: Any, leader: int) -> bool:
    """True if this leader knows the current state, so that its compare-and-set would succeed."""
    if s.leader != leader or s.epoch != s.known_epoch[leader]:
        return False
    return s.outdated[leader] == 0 and s.answer[leader] != GRANTED


def lose_disowned(s: Any, leader: int) -> None:
    """A request that its leader goes by no longer will be refused: the partition has changed."""
    if s.disowned[leader] == 1:
        forget_request(s, leader)


def forget_request(s: Any, leader: int) -> None:
    """No change of the ISR is in flight any more."""
    s.pending_isr[leader] = 0
    s.pending_stale[leader] = 0
    s.answer[leader] = NO_ANSWER
    s.disowned[leader] = 0
