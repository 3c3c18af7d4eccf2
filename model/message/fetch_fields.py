"""Fields of fetches that belong to nobody's slot: one that arrives late, one that is noted late."""

from __future__ import annotations

from model.core.layout import Field
from model.core.renaming import ONE_REPLICA, PLAIN
from model.message.bounds import Bounds
from model.message.sorts import ONE_EPOCH
from model.message.terms import NO_EPOCH, NO_REPLICA


def stray_fields(bounds: Bounds) -> tuple[Field, ...]:
    """The fetch in the network that has outlived its sender, or its sender's change of leader."""
    return (
        Field(
            name="stray_from",
            lo=NO_REPLICA,
            hi=bounds.replicas - 1,
            naming=ONE_REPLICA,
            doc=(
                "Who sent the fetch that has outlived its sender, or its sender's change of "
                "leader; -1 for none."
            ),
        ),
        Field(
            name="stray_to",
            lo=NO_REPLICA,
            hi=bounds.replicas - 1,
            naming=ONE_REPLICA,
            doc="Whom that fetch is for.",
        ),
        Field(
            name="stray_offset",
            hi=bounds.records,
            naming=PLAIN,
            doc="Its offset.",
        ),
        Field(
            name="stray_epoch",
            hi=bounds.highest_epoch,
            naming=PLAIN,
            held=ONE_EPOCH,
            doc="The leader epoch that its sender knew.",
        ),
        Field(
            name="stray_last_epoch",
            lo=NO_EPOCH,
            hi=bounds.highest_epoch,
            naming=PLAIN,
            held=ONE_EPOCH,
            doc="The last epoch in its sender's cache.",
        ),
        Field(
            name="stray_stale",
            hi=1,
            naming=PLAIN,
            doc="Whether its sender has registered anew since (KIP-903).",
        ),
    )


def booking_fields(bounds: Bounds) -> tuple[Field, ...]:
    """The fetch that a leader has checked and not taken note of; no room where none is late."""
    late = bounds.late_booking
    replica = ONE_REPLICA if late else PLAIN
    last = bounds.replicas - 1 if late else NO_REPLICA
    return (
        Field(
            name="booking_from",
            lo=NO_REPLICA,
            hi=last,
            naming=replica,
            doc="With late booking, whose fetch a leader has checked and not noted; -1 for none.",
        ),
        Field(
            name="booking_to",
            lo=NO_REPLICA,
            hi=last,
            naming=replica,
            doc="The broker that has checked it.",
        ),
        Field(
            name="booking_offset",
            hi=bounds.records if late else 0,
            naming=PLAIN,
            doc="Its offset.",
        ),
        Field(
            name="booking_stale",
            hi=1 if late else 0,
            naming=PLAIN,
            doc="Whether its sender has registered anew since (KIP-903).",
        ),
        Field(
            name="booking_void",
            hi=1 if late else 0,
            naming=PLAIN,
            doc="Whether the Replica object it goes to has been replaced, or its epoch is over.",
        ),
    )
