"""Fields of fetches without a slot of their sender, late or noted late, and of future logs."""

from __future__ import annotations

from functools import partial

from waterline.model.core.layout import Alive, Field
from waterline.model.core.renaming import BY_REPLICA, LOG_BY_REPLICA, ONE_REPLICA, PLAIN
from waterline.model.message.bounds import Bounds
from waterline.model.message.sorts import ONE_EPOCH, ONE_RECORD
from waterline.model.message.terms import (
    FETCHING,
    NO_EPOCH,
    NO_FUTURE_LOG,
    NO_REPLICA,
    TRUNCATES,
    TRUNCATING,
)

number = partial(Field, naming=PLAIN)
"""A plain field of one number."""


def stray_fields(bounds: Bounds) -> tuple[Field, ...]:
    """The fetch in the network that has outlived its sender, or its sender's change of leader."""
    return (
        Field(
            name="stray_from",
            lo=NO_REPLICA,
            hi=bounds.replicas - 1,
            naming=ONE_REPLICA,
            doc="Who sent the fetch that has outlived its sender, or its sender's change of "
            "leader; -1 for none.",
        ),
        Field(
            name="stray_to",
            lo=NO_REPLICA,
            hi=bounds.replicas - 1,
            naming=ONE_REPLICA,
            doc="Whom that fetch is for.",
        ),
        number(
            name="stray_offset",
            hi=bounds.records,
            doc="Its offset.",
        ),
        number(
            name="stray_epoch",
            hi=bounds.highest_epoch,
            held=ONE_EPOCH,
            doc="The leader epoch that its sender knew.",
        ),
        number(
            name="stray_last_epoch",
            lo=NO_EPOCH,
            hi=bounds.highest_epoch,
            held=ONE_EPOCH,
            doc="The last epoch in its sender's cache.",
        ),
        number(
            name="stray_stale",
            hi=1,
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
        number(
            name="booking_offset",
            hi=bounds.records if late else 0,
            doc="Its offset.",
        ),
        number(
            name="booking_stale",
            hi=1 if late else 0,
            doc="Whether its sender has registered anew since (KIP-903).",
        ),
        number(
            name="booking_void",
            hi=1 if late else 0,
            doc="Whether the Replica object it goes to has been replaced, or its epoch is over.",
        ),
    )


def future_log_fields(bounds: Bounds) -> tuple[Field, ...]:
    """Each broker's future log; no room where logs are moved in one step."""
    has_room = bounds.future_log
    of_broker = partial(Field, shape=(bounds.replicas,), naming=BY_REPLICA)
    of_follower = partial(of_broker, alive=Alive("role", (TRUNCATING, FETCHING)))
    return (
        of_broker(
            name="future",
            hi=TRUNCATES if has_room else NO_FUTURE_LOG,
            doc="With a future log, what its thread does: 0 there is none, 1 copies, 2 finds out "
            "first where to cut.",
        ),
        of_broker(
            name="future_leo",
            hi=bounds.records if has_room else 0,
            doc="The end of the future log.",
        ),
        Field(
            name="future_log",
            hi=bounds.names if has_room else 0,
            shape=(bounds.replicas, bounds.records),
            naming=LOG_BY_REPLICA if has_room else BY_REPLICA,
            held=ONE_RECORD if has_room else None,
            doc="The record at each offset below that; 0 above.",
        ),
        of_broker(
            name="future_hw",
            hi=bounds.records if has_room else 0,
            doc="The high watermark of the future log; while its broker is down, the one on disk.",
        ),
        of_broker(
            name="future_cut",
            hi=bounds.records if has_room else 0,
            doc="Where the future log is cut if the log cannot say; 0 while it copies.",
        ),
        of_broker(
            name="future_assigned",
            hi=1 if has_room else 0,
            doc="Whether metadata has the future log's directory for the replica's (KIP-858).",
        ),
        of_follower(
            name="fetched_epoch",
            lo=NO_EPOCH,
            hi=bounds.highest_epoch if has_room else NO_EPOCH,
            held=ONE_EPOCH if has_room else None,
            doc="Where the log was replaced by a future log that ends in another epoch: the last "
            "epoch that the fetcher goes on with.",
        ),
        of_follower(
            name="cuts_finally",
            hi=1 if has_room else 0,
            doc="In a diverging answer, with a future log: whether this truncation is the last.",
        ),
    )
