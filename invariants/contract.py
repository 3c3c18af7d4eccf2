"""Contracts of claims: the settings that void Kafka's promise.

A contract names the setting first. `no_divergence_below_hw` has none: replicas agree with their
leader whatever is set. `leader_possible` has none either: without a possible leader nothing is
lost, but an operator has to know.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.environment import FAULTS
from waterline.model.message.terms import ACKS_LEADER, ACKS_NONE, DISK_LOSS_OUT_OF_SYNC


def of_acknowledged(c: Any) -> str | None:
    """Why a record that was acknowledged may be lost; None: it may not."""
    if c.acks == ACKS_NONE:
        return "acks=0: nothing is acknowledged, so nothing is promised to a producer"
    if c.acks == ACKS_LEADER:
        return "acks=1: the leader acknowledges alone, and what it had not passed on goes with it"
    return of_committed(c)


def of_committed(c: Any) -> str | None:
    """Why a record that was committed may be lost; None: it may not.

    What as many machines lose as had to have a record is gone: Kafka does not flush before it
    acknowledges. With an unclean election a replica that lacks committed records leads, so they are
    gone, and a consumer may read others in their place.
    """
    if machines_that_lose_records(c) >= c.min_insync_replicas:
        return (
            f"min.insync.replicas={c.min_insync_replicas}: a record may be in no more "
            "logs than machines lose theirs; Kafka does not flush before it acknowledges"
        )
    if c.unclean_leader_election == 1:
        return (
            "unclean.leader.election.enable=true: a replica out of sync may lead, "
            "without the records that it lacks"
        )
    return None


def machines_that_lose_records(c: Any) -> int:
    """Return how many machines that had to have a record may lose it; only those in sync had to."""
    lost: int = sum(getattr(c, name) for name, fault in FAULTS.items() if fault.takes_records)
    return lost - c.lost_disks if c.disk_loss == DISK_LOSS_OUT_OF_SYNC else lost
