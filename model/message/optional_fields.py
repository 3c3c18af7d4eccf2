"""Fields of requests to change the ISR, of late fetches, and of future logs.

They take no bit without their option or feature, so that every other question keeps its layout.
"""

from __future__ import annotations

from functools import partial

from waterline.model.core.layout import Alive, Field
from waterline.model.core.renaming import (
    BY_REPLICA,
    LOG_BY_REPLICA,
    ONE_REPLICA,
    PLAIN,
    RECORDS_BY_REPLICA,
    REPLICAS_BY_REPLICA,
)
from waterline.model.message.bounds import ONE_EPOCH, ONE_RECORD, RECORDS, Bounds
from waterline.model.message.terms import (
    FETCHING,
    LEADER,
    NO_ANSWER,
    NO_EPOCH,
    NO_FUTURE_LOG,
    NO_REPLICA,
    NOTHING_TO_REPLAY,
    REFUSED,
    REPLAYS_OLDER,
    TRUNCATES,
    TRUNCATING,
)

_LEADS = Alive("role", (LEADER,))


def leader_fields(bounds: Bounds) -> tuple[Field, ...]:
    """Return a leader's fields, from its request to its log's losses."""
    replicas, records = bounds.replicas, bounds.records
    everyone = (1 << replicas) - 1
    members = (1 << (bounds.names + 1 if bounds.unbounded else bounds.names)) - 1
    of_leader = partial(Field, shape=(replicas,), alive=_LEADS, naming=BY_REPLICA)

    def replicas_of_leader(name: str, has_room: bool, doc: str) -> Field:
        """A set of replicas at each leader; without room it is empty, and takes no bit."""
        hi, naming = (everyone, REPLICAS_BY_REPLICA) if has_room else (0, BY_REPLICA)
        return of_leader(name=name, hi=hi, naming=naming, doc=doc)

    return (
        of_leader(
            name="pending_isr",
            hi=everyone,
            naming=REPLICAS_BY_REPLICA,
            doc="The ISR that it has asked the controller for (KIP-497); empty for no request.",
        ),
        of_leader(
            name="pending_stale",
            hi=1,
            doc="Whether the broker to be added has registered anew since its fetch (KIP-903).",
        ),
        of_leader(
            name="answer",
            hi=REFUSED if bounds.late_answers else NO_ANSWER,
            doc="With late answers, the controller's answer on its way: 0 none, 1 granted, 2 "
            "refused.",
        ),
        of_leader(
            name="outdated",
            hi=1,
            doc="Whether the controller has changed the partition within its epoch, and it "
            "has not heard of it (KRaft).",
        ),
        of_leader(
            name="replay",
            hi=REPLAYS_OLDER if bounds.late_replay else NOTHING_TO_REPLAY,
            doc="With late replay, the record of a granted change that it has still to replay: 0 "
            "none, 1 of the ISR that it goes by, 2 of one before.",
        ),
        replicas_of_leader(
            "replay_isr", bounds.late_replay, "The ISR in that record, where it is one before."
        ),
        of_leader(
            name="disowned",
            hi=1 if bounds.late_replay else 0,
            doc="Whether it goes by its request no longer, which is on its way all the same.",
        ),
        Field(
            name="still_waiting",
            hi=members if bounds.keeps_waiting else 0,
            shape=(replicas, records),
            naming=RECORDS_BY_REPLICA if bounds.keeps_waiting else BY_REPLICA,
            held=RECORDS,
            doc="With keeps-waiting-producers, records of past terms whose requests wait for HW "
            "to pass each offset; without bounds the last bit says that some are nowhere.",
        ),
        replicas_of_leader(
            "caught_up",
            bounds.caught_up_wait,
            "With the wait for who caught up: the replicas whose last fetch of everything is not "
            "longer ago than replica.lag.time.max.ms.",
        ),
        replicas_of_leader(
            "seen_unavailable",
            bounds.caught_up_wait,
            "With the wait for who caught up: the brokers that its metadata has as fenced or "
            "shutting down.",
        ),
        replicas_of_leader(
            "read_registrations",
            bounds.compares_broker_epochs,
            "With the wait for who caught up (KIP-903): the brokers whose last registration its "
            "metadata has.",
        ),
        replicas_of_leader(
            "fetched_since",
            bounds.compares_broker_epochs,
            "With the wait for who caught up (KIP-903): the replicas whose last fetch carried the "
            "broker epoch of their last registration.",
        ),
        replicas_of_leader(
            "broker_epoch_matches",
            bounds.compares_broker_epochs,
            "With the wait for who caught up (KIP-903): the replicas whose last fetch carried the "
            "broker epoch that its metadata has.",
        ),
        of_leader(
            name="entry_lost",
            hi=1 if bounds.directory_moves else 0,
            doc="With directory moves: whether its epoch cache has lost its own, unwritten epoch.",
        ),
        replicas_of_leader(
            "known_replicas",
            bounds.reassignments,
            "With reassignments: the replicas as it has them, itself among them.",
        ),
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
