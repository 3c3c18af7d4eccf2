"""The replicas of the partition, as the controller and as a leader have them.

Without reassignments every broker is a replica, and no rule below reads a field.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.features import HW_NEEDS_MIN_ISR, has
from waterline.model.message.roles import drop_follower
from waterline.model.message.settings import Settings
from waterline.model.message.terms import contains, size


def assigned_replicas(s: Any, c: Settings) -> int:
    """The brokers that are replicas, those being added or removed included."""
    everyone: int = (1 << s.replicas) - 1
    return s.assigned if c.reassignments > 0 else everyone


def knows_replica(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """True if the leader has a Replica object for it (Partition.followerReplicaOrThrow)."""
    return c.reassignments == 0 or contains(s.known_replicas[leader], follower)


def leader_min_isr(s: Any, c: Settings, leader: int) -> int:
    """min.insync.replicas; since 3.7 the number of replicas if less (Partition.effectiveMinIsr)."""
    if c.reassignments == 0 or not has(c, HW_NEEDS_MIN_ISR):
        return c.min_insync_replicas
    return min(c.min_insync_replicas, size(s.known_replicas[leader]))


def controller_min_isr(s: Any, c: Settings) -> int:
    """The controller's min.insync.replicas, which may be a different one (KAFKA-16540).

    It depends on the replicas of the topic's partition 0, before the change
    (ReplicationControlManager.getTopicEffectiveMinIsr).
    """
    least: int = c.controller_min_insync_replicas
    if least == 0:
        least = c.min_insync_replicas
    if c.reassignments == 0:
        return least
    first: int = c.first_partition_replicas
    return min(least, first if first > 0 else size(s.assigned))


def learn_replicas(s: Any, c: Settings, leader: int) -> None:
    """The leader drops the Replica objects of brokers that are not replicas, and adds new ones.

    A broker that is removed and added again in one metadata delta keeps its object
    (Partition.updateAssignmentAndIsr, remoteReplicasMap).
    """
    if c.reassignments == 0:
        return
    kept = s.assigned & s.known_replicas[leader]
    for follower in range(s.replicas):
        if not contains(kept, follower):
            drop_follower(s, c, leader, follower)
    s.known_replicas[leader] = s.assigned
