"""The state of the message grain, field by field: one partition, its replicas, its controller.

A record is an id in order of birth (1, 2, ...); the epoch it was written in is stored once per id.
The epoch cache is not stored: it can be read off the log (`model.message.epochs`), but for the
entry of a leader that has written nothing yet. Contents of a request are not stored either: while
it is in flight its offset is the follower's LEO and its addressee the follower's known leader. Only
the one fetch in the network that may outlive its sender, or its sender's change of leader, is
written out.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from functools import partial

from waterline.model.core.layout import Alive, Field, Layout
from waterline.model.core.renaming import (
    BY_RECORD,
    BY_REPLICA,
    BY_REPLICA_AND_REPLICA,
    LOG_BY_REPLICA,
    ONE_REPLICA,
    PLAIN,
    RECORD_AT_OFFSET,
    RECORDS_BORN,
    RECORDS_BY_REPLICA,
    REPLICA_BY_REPLICA,
    REPLICAS_BY_REPLICA,
    SET_OF_RECORDS,
    SET_OF_REPLICAS,
    Naming,
)
from waterline.model.core.state import State
from waterline.model.message.bounds import (
    ONCE_A_RECORD,
    ONE_EPOCH,
    ONE_RECORD,
    RECORD,
    RECORDS,
    RECORDS_SO_FAR,
    Bounds,
    so_far,
)
from waterline.model.message.declared import option_of
from waterline.model.message.environment import COUNTED, FAULTS
from waterline.model.message.limits import most_used
from waterline.model.message.optional_fields import (
    booking_fields,
    future_log_fields,
    leader_fields,
    number,
    stray_fields,
)
from waterline.model.message.terms import (
    CHECKED,
    DIRECTORY_FAILED,
    DIVERGING,
    FETCHING,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
    TRUNCATING,
    UNCLEAN,
    UNKNOWN_OFFSET,
    without_member,
)

_NAMELESS: dict[Naming | None, Naming] = {
    LOG_BY_REPLICA: BY_REPLICA,
    RECORDS_BY_REPLICA: BY_REPLICA,
    RECORD_AT_OFFSET: PLAIN,
    RECORDS_BORN: PLAIN,
    BY_RECORD: PLAIN,
    SET_OF_RECORDS: PLAIN,
}
REPLICA_SETS = "replica_sets"
"""The size of a layout that a parameter ranges over which is a set of replicas, a bit each."""

_LEADS = Alive("role", (LEADER,))
_FOLLOWS = Alive("role", (TRUNCATING, FETCHING))
_HAS_NO_ROLE = Alive("role", (NO_ROLE,))


def fields(bounds: Bounds) -> tuple[Field, ...]:
    """Every field of the state, with its range within `bounds`.

    A budget's use has a fixed range, so that budgets do not shape the layout.
    """
    replicas, records, epochs = bounds.replicas, bounds.records, bounds.highest_epoch
    names = bounds.names
    decisions = 1 if bounds.unbounded else max(1, epochs)
    everyone = (1 << replicas) - 1
    of_broker = partial(Field, shape=(replicas,), naming=BY_REPLICA)
    of_leader, of_follower = partial(of_broker, alive=_LEADS), partial(of_broker, alive=_FOLLOWS)
    return (
        Field(
            name="leader",
            lo=NO_REPLICA,
            hi=replicas - 1,
            naming=ONE_REPLICA,
            doc="The controller's leader, -1 for none.",
        ),
        number(
            name="epoch",
            hi=epochs,
            held=ONE_EPOCH,
            doc="The controller's leader epoch.",
        ),
        Field(
            name="isr",
            hi=everyone,
            naming=SET_OF_REPLICAS,
            doc="The ISR as the controller has it, one bit a replica.",
        ),
        Field(
            name="fenced",
            hi=everyone,
            naming=SET_OF_REPLICAS,
            doc="Brokers that the controller takes for down; after an expiry one still runs.",
        ),
        Field(
            name="elr",
            hi=everyone,
            naming=SET_OF_REPLICAS,
            doc="Eligible leader replicas: they left an ISR that was too small (KIP-966).",
        ),
        Field(
            name="stopping",
            hi=everyone,
            naming=SET_OF_REPLICAS,
            doc="Brokers that have begun a controlled shutdown and are not fenced yet.",
        ),
        of_broker(
            name="up",
            hi=1,
            doc="Whether the broker process runs.",
        ),
        of_broker(
            name="role",
            lo=NO_ROLE,
            hi=FETCHING,
            doc="What it does: 0 none (down, or up and told nothing yet), 1 leader, 2 "
            "follower that does not know yet where to cut its log, 3 follower.",
        ),
        of_broker(
            name="known_epoch",
            lo=NO_EPOCH,
            hi=epochs,
            held=ONE_EPOCH,
            doc="The leader epoch of the newest decision that the broker has taken up.",
        ),
        of_broker(
            name="leo",
            hi=records,
            doc="Log end offset: where the next record goes.",
        ),
        Field(
            name="log",
            hi=names,
            shape=(replicas, records),
            naming=LOG_BY_REPLICA,
            held=ONE_RECORD,
            doc="The record at each offset below the LEO, a number in order of birth; 0 above.",
        ),
        of_broker(
            name="hw",
            hi=records,
            doc="High watermark, in memory; 0 while down.",
        ),
        of_broker(
            name="checkpoint",
            hi=records,
            doc="High watermark on disk (replication-offset-checkpoint). It may be above the "
            "LEO; a restart takes the lesser.",
        ),
        of_broker(
            name="durable",
            hi=records,
            doc="How much of the log is known to be on disk: it survived a power loss, or a "
            "shutdown flushed it. No power loss takes it.",
        ),
        of_broker(
            name="unclean",
            hi=DIRECTORY_FAILED if bounds.taken_directories else UNCLEAN,
            alive=_HAS_NO_ROLE,
            doc="While down, with the feature elr, how it stopped: 0 by a shutdown, 1 otherwise, "
            "2 by a shutdown and its log directory was taken out, 3 its log directory failed.",
        ),
        of_leader(
            name="known_isr",
            hi=everyone,
            naming=REPLICAS_BY_REPLICA,
            doc="The ISR as the leader has it.",
        ),
        of_leader(
            name="unanswered",
            hi=(1 << names) - 1,
            naming=RECORDS_BY_REPLICA,
            held=RECORDS,
            doc="Records of this uninterrupted term whose acks=all request waits; bit id-1.",
        ),
        Field(
            name="remote_leo",
            lo=UNKNOWN_OFFSET,
            hi=records,
            shape=(replicas, replicas),
            alive=_LEADS,
            naming=BY_REPLICA_AND_REPLICA,
            doc="The last fetch offset of each follower, -1 if unknown.",
        ),
        *leader_fields(bounds),
        of_follower(
            name="known_leader",
            hi=replicas - 1,
            naming=REPLICA_BY_REPLICA,
            doc="Whom it fetches from; itself where nobody leads.",
        ),
        of_follower(
            name="fetch",
            hi=CHECKED if bounds.late_booking else DIVERGING,
            doc="Its one outstanding fetch: 0 none, 1 requested, 2 answered, 3 out of range, "
            "4 parked, 5 diverging, 6 checked by the leader, which takes note of it later.",
        ),
        of_follower(
            name="answer_offset",
            hi=records,
            doc="In an answer the leader's HW; out of range: the leader's LEO; diverging: "
            "where this follower will cut.",
        ),
        Field(
            name="answer_log",
            hi=names,
            shape=(replicas, records),
            alive=_FOLLOWS,
            naming=LOG_BY_REPLICA,
            held=ONE_RECORD,
            doc="In an answer: the records from the follower's LEO on.",
        ),
        of_follower(
            name="cached_epoch",
            lo=NO_EPOCH,
            hi=epochs,
            held=ONE_EPOCH,
            doc="The last entry of its epoch cache if no record has that epoch: it led then "
            "and wrote nothing.",
        ),
        *future_log_fields(bounds),
        *stray_fields(bounds),
        *booking_fields(bounds),
        Field(
            name="decided_leader",
            lo=NO_REPLICA,
            hi=replicas - 1,
            shape=(decisions,),
            naming=ONE_REPLICA,
            doc="With late metadata: whom each earlier epoch made leader, -1 for nobody.",
        ),
        Field(
            name="decided_isr",
            hi=everyone,
            shape=(decisions,),
            naming=SET_OF_REPLICAS,
            doc="With late metadata: the ISR that each earlier epoch ended with.",
        ),
        Field(
            name="produced",
            hi=names,
            naming=RECORDS_BORN,
            held=RECORDS_SO_FAR,
            doc="How many records have been produced.",
        ),
        Field(
            name="record_epoch",
            hi=epochs,
            shape=(names,),
            naming=BY_RECORD,
            indexed_by=RECORD,
            held=ONE_EPOCH,
            doc="The leader epoch that record id was written in, at id-1.",
        ),
        Field(
            name="acked",
            hi=(1 << (names + 1 if bounds.unbounded else names)) - 1,
            naming=SET_OF_RECORDS,
            held=RECORDS,
            doc="Records acknowledged; bit id-1. Without bounds the last bit says that some are "
            "nowhere.",
        ),
        number(
            name="exposed_end",
            hi=records,
            doc="How far any leader's HW has ever been.",
        ),
        Field(
            name="exposed",
            hi=names,
            shape=(records,),
            naming=RECORD_AT_OFFSET,
            held=ONCE_A_RECORD,
            doc="The record that was at each offset when a leader's HW first passed it: what "
            "a consumer may have read.",
        ),
        number(
            name="consumed",
            hi=records,
            doc="How many records the consumer has read, where there is one.",
        ),
        Field(
            name="last_consumed",
            hi=names,
            naming=RECORD_AT_OFFSET,
            held=ONCE_A_RECORD,
            doc="The record that it read last, 0 for none.",
        ),
        number(
            name="misread",
            hi=1,
            doc="Whether it read on over records that it had never seen.",
        ),
        *(
            number(
                name=f"{name}_used",
                hi=most_used(bounds, name),
                held=None if name in COUNTED else so_far(option_of(name)),
                doc=f"{fault.so_far} so far.",
            )
            for name, fault in FAULTS.items()
        ),
        number(
            name="base",
            hi=1 if bounds.cut else 0,
            doc="Whether records have been cut off below all logs.",
        ),
        # Last, so that the order of states is the same with and without it.
        Field(
            name="last_leader",
            lo=NO_REPLICA,
            hi=replicas - 1,
            naming=ONE_REPLICA,
            doc="While the ISR is empty, with the feature last-known-leader: who led last "
            "(KIP-966), -1 for nobody.",
        ),
        *(
            Field(
                name=name,
                hi=everyone if bounds.reassignments else 0,
                naming=SET_OF_REPLICAS if bounds.reassignments else PLAIN,
                doc=doc,
            )
            for name, doc in (
                ("assigned", "With reassignments, the brokers that have a replica."),
                ("adding", "With reassignments, those that are being added."),
                ("removing", "With reassignments, those that are being removed."),
            )
        ),
    )


def layout(bounds: Bounds) -> Layout:
    """The packed form of the state within `bounds`. Raises `TooLargeToPack`."""
    sizes = {
        "replicas": bounds.replicas,
        REPLICA_SETS: 1 << bounds.replicas,
        "records": bounds.records,
        "epochs": bounds.highest_epoch,
    }
    if not bounds.unbounded:
        return _pack_layout(fields(bounds), tuple(sizes.items()))
    # Records have no names of their own there: their normal form has the only ones.
    nameless = tuple(
        replace(declared, naming=_NAMELESS.get(declared.naming, declared.naming))
        for declared in fields(bounds)
    )
    return _pack_layout(nameless, (*sizes.items(), ("ids", bounds.names)))


@functools.lru_cache(maxsize=64)
def _pack_layout(declared: tuple[Field, ...], sizes: tuple[tuple[str, int], ...]) -> Layout:
    return Layout(declared, sizes=dict(sizes))


def initial_state(form: Layout, assigned: int = 0) -> State:
    """Replica 0 leads in epoch 0, every replica is in sync and has learned it, logs are empty.

    The leader's remote LEOs are known to be 0. The first `assigned` brokers are replicas, 0: all.
    """
    s = State(form).draft()
    has_room = {field.name for field in form.fields if field.hi > 0}
    brokers = s.replicas
    everyone = (1 << (assigned or brokers)) - 1
    s.leader = 0
    s.isr = everyone
    for replica in range(brokers):
        s.up[replica] = 1
        s.known_epoch[replica] = NO_EPOCH
    for replica in range(assigned or brokers):
        s.known_epoch[replica] = 0
        s.role[replica] = LEADER if replica == 0 else FETCHING
        if replica != 0:
            s.known_leader[replica] = 0
    s.known_isr[0] = everyone
    if "assigned" in has_room:
        s.assigned = everyone
        s.known_replicas[0] = everyone
    if "caught_up" in has_room:
        s.caught_up[0] = without_member(everyone, 0)
    if "read_registrations" in has_room:
        s.read_registrations[0] = without_member((1 << brokers) - 1, 0)
        for name in ("fetched_since", "broker_epoch_matches"):
            getattr(s, name)[0] = without_member(everyone, 0)
    for follower in range(1, assigned or brokers):
        s.remote_leo[0, follower] = 0
    return s.freeze()
