"""The state of the atomic grain, field by field: one partition, its replicas, its quorum state.

Nothing is stored twice. A leader epoch is given out once, with one LeaderAndIsr request. So the
request of a replica's epoch names the leader that the replica knows, and the partition state in
ZooKeeper follows from the newest request and the ISR of the leader that acts on it
(`quorum_leader`, `quorum_isr`). No rule reads a follower's copy of the ISR, which is that of its
request. A record is an id in order of birth (1, 2, ...); its epoch is stored once per id.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.environment import AtomicEnvironment
from waterline.model.core.layout import Field, Layout
from waterline.model.core.renaming import (
    BY_RECORD,
    BY_REPLICA,
    LOG_BY_REPLICA,
    ONE_REPLICA,
    PLAIN,
    RECORDS_BORN,
    REPLICAS_BY_REPLICA,
    SET_OF_REPLICAS,
)
from waterline.model.message.terms import NO_EPOCH, NO_RECORD, NO_REPLICA


def fields(bounds: AtomicEnvironment) -> tuple[Field, ...]:
    """Every field of the state, with its range within `bounds`."""
    replicas, records = bounds.replicas, bounds.records
    everyone = (1 << replicas) - 1
    each = (replicas,)
    requests = (bounds.epochs + 1,)
    return (
        Field(
            name="leo",
            hi=bounds.log_size,
            shape=each,
            naming=BY_REPLICA,
            doc="Log end offset: where the next record goes.",
        ),
        Field(
            name="log",
            lo=NO_RECORD,
            hi=records,
            shape=(replicas, bounds.log_size),
            naming=LOG_BY_REPLICA,
            doc="The record at each offset below the LEO; no record above it.",
        ),
        Field(name="hw", hi=bounds.log_size, shape=each, naming=BY_REPLICA, doc="High watermark."),
        Field(
            name="known_epoch",
            lo=NO_EPOCH,
            hi=bounds.epochs,
            shape=each,
            naming=BY_REPLICA,
            doc="The epoch of the LeaderAndIsr request that the replica last acted on.",
        ),
        Field(
            name="known_isr",
            hi=everyone,
            shape=each,
            naming=REPLICAS_BY_REPLICA,
            doc="The ISR as a leader has it, one bit a replica; empty for whoever does not lead.",
        ),
        Field(
            name="request_leader",
            lo=NO_REPLICA,
            hi=replicas - 1,
            shape=requests,
            naming=ONE_REPLICA,
            doc="The leader in the LeaderAndIsr request of each epoch given out, or none.",
        ),
        Field(
            name="request_isr",
            hi=everyone,
            shape=requests,
            naming=SET_OF_REPLICAS,
            doc="The ISR in the LeaderAndIsr request of each epoch given out.",
        ),
        Field(
            name="issued",
            hi=bounds.epochs + 1,
            naming=PLAIN,
            doc="How many leader epochs are given out.",
        ),
        Field(
            name="produced",
            hi=records,
            naming=RECORDS_BORN,
            doc="How many records have been produced.",
        ),
        Field(
            name="record_epoch",
            hi=bounds.epochs,
            shape=(records,),
            naming=BY_RECORD,
            doc="The leader epoch that record id was written in, at id-1; 0 where no log has it.",
        ),
    )


def layout(bounds: AtomicEnvironment) -> Layout:
    """The packed form of the state within `bounds`. Raises `TooLargeToPack`."""
    return Layout(
        fields(bounds),
        sizes={
            "replicas": bounds.replicas,
            "log_size": bounds.log_size,
            "records": bounds.records,
            "epochs": bounds.epochs,
            "requests": bounds.epochs + 1,
        },
    )


def known_leader(s: Any, replica: int) -> int:
    """The leader that the replica knows: itself, another, or none yet."""
    epoch = s.known_epoch[replica]
    return NO_REPLICA if epoch == NO_EPOCH else s.request_leader[epoch]


def leads(s: Any, replica: int) -> bool:
    """True if the replica believes that it leads, rightly or not; it then accepts writes."""
    return known_leader(s, replica) == replica


def quorum_leader(s: Any) -> int:
    """The leader that the controller has decided on, or none."""
    return NO_REPLICA if s.issued == 0 else s.request_leader[s.issued - 1]


def is_true_leader(s: Any, replica: int) -> bool:
    """True if the replica leads and the quorum agrees, epoch and all."""
    return s.known_epoch[replica] == s.issued - 1 and leads(s, replica)


def quorum_isr(s: Any) -> int:
    """The ISR in ZooKeeper: everybody at first, then what the newest epoch has made of it.

    The true leader changes it together with its own copy, so the two are one.
    """
    if s.issued == 0:
        return (1 << s.replicas) - 1
    leader = quorum_leader(s)
    if leader != NO_REPLICA and is_true_leader(s, leader):
        return s.known_isr[leader]
    return s.request_isr[s.issued - 1]
