"""Reassignment: the operator names replicas, the controller moves to them.

Under KRaft a write of the partition is four sets: ISR, replicas, those being added, those being
removed. In Kafka every write may complete a reassignment. Here the request and an AlterPartition
do: others write a smaller ISR, or one of a single member that an election makes, and complete
nothing, or what the next AlterPartition completes.
(ReplicationControlManager.changePartitionReassignment and cancelPartitionReassignment,
PartitionReassignmentReplicas, PartitionReassignmentRevert, PartitionChangeBuilder.build)

With ZooKeeper the controller completes a reassignment by a step of its own. It makes several writes
in a step, each with an epoch and a request; here a step is one write, with one epoch.
(KafkaController.onPartitionReassignment)
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.controller import elect, elect_next, unavailable
from waterline.model.message.features import (
    CHANGEABLE_REASSIGNMENT,
    COMPLETES_WHEN_ADDED,
    ELR,
    ELR_ONLY_REPLICAS,
    KRAFT,
    SHRINK_WAITS_FOR_TARGETS,
    has,
)
from waterline.model.message.partition_state import (
    begin_epoch,
    elr_beside,
    has_room,
    outdate_leader,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ELECT_ANY,
    NO_REPLICA,
    contains,
    size,
    with_member,
    without_member,
)

Write = tuple[int, int, int, int]
"""ISR, replicas, adding, removing."""


def completes(c: Settings, isr: int, replicas: int, adding: int, removing: int) -> bool:
    """True if a reassignment to these replicas is complete with this ISR.

    From 3.8 to 4.2 every target replica must be in sync (KAFKA-15665); before, and again since 4.3
    (KAFKA-19975), those that are added. Since 4.3 every one must where more are removed than added.
    (PartitionReassignmentReplicas.maybeCompleteReassignment)
    """
    if (adding == 0 and removing == 0) or not has(c, KRAFT):
        return False
    in_sync = isr & ~removing
    awaited = adding
    if not has(c, COMPLETES_WHEN_ADDED):
        awaited = replicas & ~removing
    elif has(c, SHRINK_WAITS_FOR_TARGETS) and size(adding) < size(removing):
        awaited = adding | (replicas & ~removing)
    return in_sync != 0 and awaited & ~in_sync == 0


def complete(c: Settings, isr: int, replicas: int, adding: int, removing: int) -> Write:
    """The write, after the reassignment that it completes (completeReassignmentIfNeeded)."""
    if completes(c, isr, replicas, adding, removing):
        return isr & ~removing, replicas & ~removing, 0, 0
    return isr, replicas, adding, removing


def request_target(s: Any, c: Settings, targets: int) -> Write:
    """The write for a request. The controller keeps `adding` and `removing` where the new ones are
    empty (setTargetAdding, setTargetRemoving).
    """
    adding = targets & ~s.assigned
    removing = s.assigned & ~targets
    if adding == 0:
        adding = s.adding
    if removing == 0:
        removing = s.removing
    return complete(c, s.isr, s.assigned | targets, adding, removing)


def cancel_target(s: Any, c: Settings) -> Write:
    """The write for a cancellation: the replicas of before.

    With none of them in sync the first becomes the ISR, uncleanly (PartitionReassignmentRevert).
    """
    replicas = s.assigned & ~s.adding
    isr = s.isr & ~s.adding
    if isr == 0:
        isr = replicas & -replicas
    return isr, replicas, 0, 0


def alter_target(s: Any, c: Settings, isr: int) -> Write:
    """The write for a leader's AlterPartition with this ISR."""
    return complete(c, isr, s.assigned, s.adding, s.removing)


def removes_with(s: Any, c: Settings, isr: int) -> bool:
    """True if an AlterPartition with this ISR completes a reassignment that removes replicas."""
    if c.reassignments == 0 or s.removing == 0:
        return False
    return completes(c, isr, s.assigned, s.adding, s.removing)


def starts_epoch(s: Any, isr: int, replicas: int) -> bool:
    """True if the write starts an epoch: a replica is removed, or the leader leaves the ISR.

    (triggerLeaderEpochBumpForReplicaReassignmentIfNeeded, tryElection)
    """
    return s.assigned & ~replicas != 0 or loses_leader(s, isr)


def loses_leader(s: Any, isr: int) -> bool:
    """True if the leader is not in the new ISR, so that another is elected."""
    return s.leader != NO_REPLICA and not contains(isr, s.leader)


def choice(s: Any, c: Settings, isr: int) -> int:
    """The candidates, where the election order is `any` and there are several; else none."""
    if c.election_order != ELECT_ANY or not loses_leader(s, isr):
        return 0
    may_win: int = isr & ~unavailable(s)
    return may_win if size(may_win) > 1 else 0


def write(s: Any, c: Settings, isr: int, replicas: int, adding: int, removing: int) -> None:
    """Write the partition, but for an election (PartitionChangeBuilder.build).

    The ELR is made of the former ISR and ELR, and not cut down to the replicas that are left
    (maybePopulateTargetElr).
    """
    if starts_epoch(s, isr, replicas):
        begin_epoch(s, c)
    else:
        outdate_leader(s)
    if has(c, ELR):
        s.elr = elr_beside(s, c, isr)
    if has(c, ELR_ONLY_REPLICAS):
        s.elr = s.elr & replicas
    s.isr = isr
    s.assigned = replicas
    s.adding = adding
    s.removing = removing


def change(s: Any, c: Settings, isr: int, replicas: int, adding: int, removing: int) -> None:
    """Write the partition, and elect the first candidate if the leader has left the ISR."""
    elects = loses_leader(s, isr)
    write(s, c, isr, replicas, adding, removing)
    if elects:
        elect_next(s, c)


def epoch_limit(s: Any, isr: int, replicas: int) -> int:
    """The limit on epochs if the write starts one and the model has no room for it."""
    if not has_room(s, 1) and starts_epoch(s, isr, replicas):
        return limits.EPOCHS
    return limits.WITHIN


def is_under_way(s: Any) -> bool:
    """True if replicas are being added or removed."""
    return bool(s.adding | s.removing != 0)


def may_request(s: Any, c: Settings, targets: int) -> bool:
    """True if the operator names a different set of replicas, and the request does not fail.

    Under KRaft it fails with an exception if the partition has no leader and a live broker to be
    added would be elected from the ELR (LeaderAcceptor.test, PartitionRegistration.directory). With
    ZooKeeper each added broker must be alive (KafkaController.validateReplicas), and before 2.4
    every target.
    """
    if is_under_way(s) and not has(c, CHANGEABLE_REASSIGNMENT):
        return False
    if not has(c, KRAFT):
        needed = targets & ~original(s) if has(c, CHANGEABLE_REASSIGNMENT) else targets
        return bool(targets not in (0, remaining(s)) and needed & unavailable(s) == 0)
    if targets == 0 or targets == s.assigned:
        return False
    if s.leader != NO_REPLICA or s.isr != 0:
        return True
    return bool(targets & ~s.assigned & s.elr & ~unavailable(s) == 0)


def can_reassign(s: Any, c: Settings, targets: int) -> bool:
    """The operator names other replicas, and no election that it needs leaves a choice."""
    if not may_request(s, c, targets):
        return False
    if not has(c, KRAFT):
        return True
    isr, _, _, _ = request_target(s, c, targets)
    return choice(s, c, isr) == 0


def reassign_limit(s: Any, c: Settings, targets: int) -> int:
    """The request may complete at once, which may start an epoch; with ZooKeeper each does."""
    if not has(c, KRAFT):
        return complete_limit(s, c)
    isr, replicas, _, _ = request_target(s, c, targets)
    return epoch_limit(s, isr, replicas)


def reassign(s: Any, c: Settings, targets: int) -> None:
    """The operator names the replicas that there are to be (AlterPartitionReassignments)."""
    if not has(c, KRAFT):
        begin_with_zookeeper(s, c, targets)
        return
    isr, replicas, adding, removing = request_target(s, c, targets)
    change(s, c, isr, replicas, adding, removing)


def can_reassign_and_elect(s: Any, c: Settings, targets: int, winner: int) -> bool:
    """The operator's replicas are without the leader; the winner is one of several candidates."""
    if not may_request(s, c, targets):
        return False
    isr, _, _, _ = request_target(s, c, targets)
    return contains(choice(s, c, isr), winner)


def reassign_and_elect_limit(s: Any, c: Settings, targets: int, winner: int) -> int:
    """As `reassign_limit`."""
    return reassign_limit(s, c, targets)


def reassign_and_elect(s: Any, c: Settings, targets: int, winner: int) -> None:
    """As `reassign`; the winner is any candidate: the target's order is the operator's."""
    isr, replicas, adding, removing = request_target(s, c, targets)
    write(s, c, isr, replicas, adding, removing)
    elect(s, c, winner)


def may_cancel(s: Any, c: Settings) -> bool:
    """True if a reassignment is in progress, and a replica that is not being added is in sync.

    With unclean elections none need be, and with ZooKeeper the controller does not look.
    """
    if not is_under_way(s) or not has(c, CHANGEABLE_REASSIGNMENT):
        return False
    if not has(c, KRAFT):
        return True
    return s.isr & ~s.adding != 0 or c.unclean_leader_election == 1


def can_cancel(s: Any, c: Settings) -> bool:
    """The operator may cancel, and no election that it needs leaves a choice."""
    if not may_cancel(s, c):
        return False
    if not has(c, KRAFT):
        return True
    isr, _, _, _ = cancel_target(s, c)
    return choice(s, c, isr) == 0


def cancel_limit(s: Any, c: Settings) -> int:
    """The brokers that were being added are removed, which starts an epoch."""
    if not has(c, KRAFT):
        return complete_limit(s, c)
    isr, replicas, _, _ = cancel_target(s, c)
    return epoch_limit(s, isr, replicas)


def cancel(s: Any, c: Settings) -> None:
    """The operator returns to the replicas of before."""
    if not has(c, KRAFT):
        begin_with_zookeeper(s, c, original(s))
        return
    isr, replicas, adding, removing = cancel_target(s, c)
    change(s, c, isr, replicas, adding, removing)


def can_cancel_and_elect(s: Any, c: Settings, winner: int) -> bool:
    """The operator may cancel, and the winner is one of several candidates."""
    if not may_cancel(s, c):
        return False
    isr, _, _, _ = cancel_target(s, c)
    return contains(choice(s, c, isr), winner)


def cancel_and_elect_limit(s: Any, c: Settings, winner: int) -> int:
    """As `cancel_limit`."""
    return cancel_limit(s, c)


def cancel_and_elect(s: Any, c: Settings, winner: int) -> None:
    """As `cancel`; the winner is any candidate."""
    isr, replicas, adding, removing = cancel_target(s, c)
    write(s, c, isr, replicas, adding, removing)
    elect(s, c, winner)


# --- with ZooKeeper ------------------------------------------------------------------------------


def original(s: Any) -> int:
    """The replicas of before the reassignment (ReplicaAssignment.originReplicas)."""
    members: int = s.assigned & ~s.adding
    return members


def remaining(s: Any) -> int:
    """The replicas that there are to be (ReplicaAssignment.targetReplicas)."""
    members: int = s.assigned & ~s.removing
    return members


def begin_with_zookeeper(s: Any, c: Settings, targets: int) -> None:
    """Replace the reassignment under way by these targets, and complete it if all are in sync.

    Replicas that were being added and are not targets are stopped at once and deleted, even if they
    were the only ones in sync. (KafkaController.onPartitionReassignment, updateCurrentReassignment)
    """
    before, given_up = original(s), s.adding & ~targets
    begin_epoch(s, c)
    stop_replicas(s, given_up)
    s.assigned = before | targets
    s.adding = targets & ~before
    s.removing = before & ~targets
    if targets == before or targets & ~s.isr == 0:
        keep_only_targets(s)


def can_complete(s: Any, c: Settings) -> bool:
    """A reassignment is under way, and all of its targets are in sync.

    (KafkaController.isReassignmentComplete)
    """
    return has_targets_in(s, s.isr)


def has_targets_in(s: Any, isr: int) -> bool:
    """True if a reassignment is under way and all its targets are in this ISR."""
    return is_under_way(s) and remaining(s) & ~isr == 0


def is_followed_by_completion(s: Any, c: Settings, isr: int) -> bool:
    """True if the controller completes a reassignment at once after an AlterPartition for this ISR.

    Where the leader writes the ISR itself the controller hears of it later.
    """
    return c.reassignments > 0 and not has(c, KRAFT) and has_targets_in(s, isr)


def complete_limit(s: Any, c: Settings) -> int:
    """The limit on epochs, because completion starts one."""
    return limits.WITHIN if has_room(s, 1) else limits.EPOCHS


def complete_with_zookeeper(s: Any, c: Settings) -> None:
    """The controller has noticed that all targets are in sync."""
    begin_epoch(s, c)
    keep_only_targets(s)


def keep_only_targets(s: Any) -> None:
    """One of the targets leads, and the other replicas leave the ISR and are deleted.

    Without a live target in sync no replica is elected, and a leader that is not a target stops
    leading. (KafkaController.moveReassignedPartitionLeaderIfRequired,
    PartitionLeaderElectionAlgorithms.reassignPartitionLeaderElection)
    """
    targets = remaining(s)
    alive = targets & ~unavailable(s)
    if s.leader == NO_REPLICA or not contains(alive, s.leader):
        for replica in range(s.replicas - 1, -1, -1):
            if contains(alive & s.isr, replica):
                s.leader = replica
    stop_replicas(s, s.removing)
    s.assigned = targets
    s.adding = 0
    s.removing = 0


def stop_replicas(s: Any, members: int) -> None:
    """Take them out of the ISR, but for the last that is in it, and out of leadership.

    (KafkaController.stopRemovedReplicasOfReassignedPartition, ReplicaStateMachine,
    removeReplicasFromIsr)
    """
    for replica in range(s.replicas):
        if contains(members, replica):
            if s.isr != with_member(0, replica):
                s.isr = without_member(s.isr, replica)
            if s.leader == replica:
                s.leader = NO_REPLICA
