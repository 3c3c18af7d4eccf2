"""The fields of the state that have room only where an option or a feature asks for them.

Without it they take no bit, so that every other question has the layout that it always had.
"""

from __future__ import annotations

from model.core.layout import Alive, Field
from model.core.renaming import (
    BY_REPLICA,
    RECORDS_BY_REPLICA,
    REPLICAS_BY_REPLICA,
)
from model.message.environment import Bounds
from model.message.sorts import RECORDS
from model.message.terms import LEADER

_LEADS = Alive("role", (LEADER,))


def fields_of_leaders(bounds: Bounds) -> tuple[Field, ...]:
    """What a leader keeps besides, and producers that wait where nobody leads any more."""
    replicas, records = bounds.replicas, bounds.records
    members = (1 << (bounds.names + 1 if bounds.unbounded else bounds.names)) - 1
    everyone = (1 << replicas) - 1
    each = (replicas,)
    return (
        Field(
            name="still_waiting",
            hi=members if bounds.keeps_waiting else 0,
            shape=(replicas, records),
            naming=RECORDS_BY_REPLICA if bounds.keeps_waiting else BY_REPLICA,
            held=RECORDS,
            doc=(
                "With keeps-waiting-producers, records of past terms whose requests wait for HW "
                "to pass each offset; without bounds the last bit says that some are nowhere."
            ),
        ),
        Field(
            name="caught_up",
            hi=everyone if bounds.caught_up_wait else 0,
            shape=each,
            alive=_LEADS,
            naming=REPLICAS_BY_REPLICA if bounds.caught_up_wait else BY_REPLICA,
            doc=(
                "With the wait for who caught up: the replicas whose last fetch of everything is "
                "not longer ago than replica.lag.time.max.ms."
            ),
        ),
        Field(
            name="seen_unavailable",
            hi=everyone if bounds.caught_up_wait else 0,
            shape=each,
            alive=_LEADS,
            naming=REPLICAS_BY_REPLICA if bounds.caught_up_wait else BY_REPLICA,
            doc=(
                "With the wait for who caught up: the brokers that its metadata has as fenced or "
                "shutting down."
            ),
        ),
        Field(
            name="entry_lost",
            hi=1 if bounds.directory_moves else 0,
            shape=each,
            alive=_LEADS,
            naming=BY_REPLICA,
            doc="With directory moves: whether its epoch cache has lost its own, unwritten epoch.",
        ),
    )
