"""The fields of a leader's request to change the ISR, and of what it hears of it.

They have a module of their own for their number: `model.message.cluster` has the others.
"""

from __future__ import annotations

from model.core.layout import Alive, Field
from model.core.renaming import BY_REPLICA, REPLICAS_BY_REPLICA
from model.message.environment import Bounds
from model.message.terms import NO_ANSWER, NOTHING_TO_REPLAY, REFUSED, REPLAYS_OLDER


def requests_of_leaders(bounds: Bounds, leads: Alive) -> tuple[Field, ...]:
    """From what is asked for to what is forgotten; they exist where `leads` says."""
    each = (bounds.replicas,)
    everyone = (1 << bounds.replicas) - 1
    return (
        Field(
            name="pending_isr",
            hi=everyone,
            shape=each,
            alive=leads,
            naming=REPLICAS_BY_REPLICA,
            doc="The ISR that it has asked the controller for (KIP-497); empty for no request.",
        ),
        Field(
            name="pending_stale",
            hi=1,
            shape=each,
            alive=leads,
            naming=BY_REPLICA,
            doc="Whether the broker to be added has registered anew since its fetch (KIP-903).",
        ),
        Field(
            name="answer",
            hi=REFUSED if bounds.late_answers else NO_ANSWER,
            shape=each,
            alive=leads,
            naming=BY_REPLICA,
            doc=(
                "With late answers, the controller's answer on its way: 0 none, 1 granted, 2 "
                "refused."
            ),
        ),
        Field(
            name="outdated",
            hi=1,
            shape=each,
            alive=leads,
            naming=BY_REPLICA,
            doc=(
                "Whether the controller has changed the partition within its epoch, and it "
                "has not heard of it (KRaft)."
            ),
        ),
        Field(
            name="replay",
            hi=REPLAYS_OLDER if bounds.late_replay else NOTHING_TO_REPLAY,
            shape=each,
            alive=leads,
            naming=BY_REPLICA,
            doc=(
                "With late replay, the record of a granted change that it has still to replay: 0 "
                "none, 1 of the ISR that it goes by, 2 of one before."
            ),
        ),
        Field(
            name="replay_isr",
            hi=everyone if bounds.late_replay else 0,
            shape=each,
            alive=leads,
            naming=REPLICAS_BY_REPLICA if bounds.late_replay else BY_REPLICA,
            doc="The ISR in that record, where it is one before.",
        ),
        Field(
            name="disowned",
            hi=1 if bounds.late_replay else 0,
            shape=each,
            alive=leads,
            naming=BY_REPLICA,
            doc="Whether it goes by its request no longer, which is on its way all the same.",
        ),
    )
