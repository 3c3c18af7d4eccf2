"""Fields of a leader's request to change the ISR, and of the replicas its high watermark waits for.

Optional fields take no bit without their option or feature, so that every other question keeps its
layout.
"""

from __future__ import annotations

from functools import partial

from waterline.model.core.layout import Alive, Field
from waterline.model.core.renaming import BY_REPLICA, RECORDS_BY_REPLICA, REPLICAS_BY_REPLICA
from waterline.model.message.bounds import Bounds
from waterline.model.message.sorts import RECORDS
from waterline.model.message.terms import (
    LEADER,
    NO_ANSWER,
    NOTHING_TO_REPLAY,
    REFUSED,
    REPLAYS_OLDER,
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
