"""A state as a table, and what belongs to no row of it.

Rows and summary together show everything that a state holds: two states that read the same are the
same.
"""

from __future__ import annotations

from collections.abc import Iterable

from waterline.model.core.state import State
from waterline.model.message.environment import FAULTS
from waterline.model.message.narration.phrases import (
    answered_records,
    as_list,
    as_records,
    as_set,
    awaited_records,
    count_of,
    ids,
    members_of,
    with_epoch,
)
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    CHECKED,
    CLEAN,
    DIRECTORY_FAILED,
    DIVERGING,
    FETCHING,
    GRANTED,
    IDLE,
    LEADER,
    NO_ANSWER,
    NO_EPOCH,
    NO_FUTURE_LOG,
    NO_REPLICA,
    OUT_OF_RANGE,
    PARKED,
    REFUSED,
    REQUESTED,
    TRUNCATES,
    TRUNCATING,
    UNCLEAN,
    UNKNOWN_OFFSET,
    WITHOUT_DIRECTORY,
    contains,
)

HEADER = ["Broker", "State", "LEO", "HW", "Ckpt", "Remote LEO", "ISR", "Log", "In flight"]
LANES = ("LEO", "HW")
"""The columns to follow where there is room for two a broker."""

NOTHING = "-"
_DOWN = {
    CLEAN: "down",
    UNCLEAN: "down, unclean",
    WITHOUT_DIRECTORY: "down, directory taken out",
    DIRECTORY_FAILED: "down, directory failed",
}


def rows(state: State) -> list[list[str]]:
    """A header, then one row a broker. Ckpt and Remote LEO are offsets; a record is id@epoch."""
    return [list(HEADER), *(_row(state, replica) for replica in range(state.replicas))]


def summary(state: State) -> list[tuple[str, str]]:
    """Return the controller's decisions, what the outside world has seen, and the faults so far."""
    leader = f"leader r{state.leader}" if state.leader != NO_REPLICA else "no leader"
    born = range(1, state.produced + 1)
    committed = [state.exposed[offset] for offset in range(state.exposed_end)]
    acked = [record for record in born if contains(state.acked, record - 1)]
    decided = f"{leader}, epoch {state.epoch}, ISR {as_set(state, state.isr)}"
    if state.elr:
        decided += f", ELR {as_set(state, state.elr)}"
    if state.last_leader != NO_REPLICA:
        decided += f", last led by r{state.last_leader}"
    decided += f", fenced {as_set(state, state.fenced)}"
    if state.assigned:
        decided += f", replicas {as_set(state, state.assigned)}"
    for word, members in (("adding", state.adding), ("removing", state.removing)):
        decided += f", {word} {as_set(state, members)}" if members else ""
    if state.stopping:
        decided += f", stopping {as_set(state, state.stopping)}"
    return [
        ("Controller", decided),
        *_on_the_way(state),
        ("Produced", as_list(with_epoch(state, record) for record in born)),
        ("Committed", as_records(committed) or "none"),
        ("Acknowledged", as_records(acked) or "none"),
        *_consumer(state),
        ("Faults", _faults(state)),
    ]


def _on_the_way(s: State) -> list[tuple[str, str]]:
    """Describe messages in flight without an owner: an old fetch, one to note, old decisions."""
    text = []
    if s.stray_from != NO_REPLICA:
        stale = ", broker epoch of the past" if s.stray_stale else ""
        last = NOTHING if s.stray_last_epoch == NO_EPOCH else f"{s.stray_last_epoch}"
        fetch = (
            f"r{s.stray_from}'s fetch from offset {s.stray_offset} to r{s.stray_to}, "
            f"epoch {s.stray_epoch}, last epoch {last}{stale}"
        )
        text.append(("Still on its way", fetch))
    if s.booking_from != NO_REPLICA:
        stale = ", broker epoch of the past" if s.booking_stale else ""
        void = ", out of date" if s.booking_void else ""
        fetch = f"r{s.booking_from}'s fetch from offset {s.booking_offset}{stale}{void}"
        text.append((f"Checked by r{s.booking_to}", fetch))
    for replica in range(s.replicas):
        if s.future[replica] != NO_FUTURE_LOG:
            records = (s.future_log[replica, offset] for offset in range(s.future_leo[replica]))
            text.append((f"Future log of r{replica}", _future_log(s, replica, records)))
    earlier = [
        f"e{epoch} r{s.decided_leader[epoch]} {as_set(s, s.decided_isr[epoch])}"
        for epoch in range(s.layout.places["decided_leader"].shape[0])
        if s.decided_leader[epoch] != NO_REPLICA
    ]
    if earlier:
        text.append(("Decided before", ", ".join(earlier)))
    return text


def _future_log(s: State, replica: int, records: Iterable[int]) -> str:
    manner = f", HW {s.future_hw[replica]}"
    if s.future[replica] == TRUNCATES:
        manner += f", to be truncated, at {s.future_cut[replica]} if the log cannot say"
    assigned = ", its directory assigned" if s.future_assigned[replica] else ""
    return as_list(with_epoch(s, record) for record in records) + manner + assigned


def _consumer(s: State) -> list[tuple[str, str]]:
    if s.consumed == 0:
        return []
    read = f"{count_of(s.consumed, 'record', 'records')} read, the last m{s.last_consumed}"
    return [("Consumer", f"{read}, then past what it never saw" if s.misread else read)]


def _faults(s: State) -> str:
    text = ((getattr(s, f"{name}_used"), fault) for name, fault in FAULTS.items())
    return ", ".join(
        count_of(number, fault.one, fault.many) for number, fault in text if number or fault.always
    )


def _row(s: State, replica: int) -> list[str]:
    leads = s.role[replica] == LEADER
    checkpoint = str(s.checkpoint[replica])
    if s.durable[replica]:
        checkpoint += f", {s.durable[replica]} safe"
    log = [with_epoch(s, s.log[replica, offset]) for offset in range(s.leo[replica])]
    return [
        f"r{replica}",
        _state(s, replica),
        str(s.leo[replica]),
        str(s.hw[replica]) if s.up[replica] == 1 else NOTHING,
        checkpoint,
        _remote_leos(s, replica) if leads else NOTHING,
        _isr(s, replica) if leads else NOTHING,
        " ".join(log) or "empty",
        _in_flight(s, replica),
    ]


def _isr(s: State, leader: int) -> str:
    """The ISR as the leader knows it, and the one that it has asked for."""
    known = as_list(f"r{member}" for member in members_of(s.known_isr[leader], s.replicas))
    if not s.pending_isr[leader]:
        return known
    asked = as_list(f"r{member}" for member in members_of(s.pending_isr[leader], s.replicas))
    answer = {NO_ANSWER: "", GRANTED: ", granted", REFUSED: ", refused"}[s.answer[leader]]
    return f"{known}, asks {asked}{' (old)' if s.pending_stale[leader] else ''}{answer}"


def _state(s: State, replica: int) -> str:
    if s.up[replica] == 0:
        return _DOWN[s.unclean[replica]]
    epoch = f"e{s.known_epoch[replica]}"
    if s.role[replica] == LEADER:
        epoch += ", outdated" if s.outdated[replica] else ""
        epoch += ", entry lost" if s.entry_lost[replica] else ""
        down = s.seen_unavailable[replica]
        return f"leader {epoch}{f', takes {as_set(s, down)} for down' if down else ''}"
    if follows(s, replica) and s.cached_epoch[replica] != NO_EPOCH:
        epoch += f", led e{s.cached_epoch[replica]}"
    if follows(s, replica) and s.fetched_epoch[replica] != NO_EPOCH:
        epoch += f", fetched e{s.fetched_epoch[replica]}"
    if follows(s, replica) and s.known_leader[replica] == replica:
        return f"no leader {epoch}"
    if s.role[replica] == FETCHING:
        return f"follower r{s.known_leader[replica]} {epoch}"
    if s.role[replica] == TRUNCATING:
        return f"truncating r{s.known_leader[replica]} {epoch}"
    return "up, no role"


def _remote_leos(s: State, leader: int) -> str:
    known = []
    for follower in range(s.replicas):
        if follower != leader:
            offset = s.remote_leo[leader, follower]
            lately = " caught up lately" if contains(s.caught_up[leader], follower) else ""
            shown = "?" if offset == UNKNOWN_OFFSET else offset
            known.append(f"r{follower}:{shown}{lately}{_broker_epoch(s, leader, follower)}")
    return as_list(known)


def _broker_epoch(s: State, leader: int, follower: int) -> str:
    """Describe how the broker epochs of the last fetch and of the leader's metadata differ."""
    if next(each.hi for each in s.layout.fields if each.name == "read_registrations") == 0:
        return ""
    matches, since, read = (
        contains(seen[leader], follower)
        for seen in (s.broker_epoch_matches, s.fetched_since, s.read_registrations)
    )
    lacks = []
    if not since:
        lacks.append(f"{'old' if matches or read else 'older'} broker epoch")
    if not read:
        lacks.append("registration unread")
    return f" ({', '.join(lacks)})" if lacks else ""


def _in_flight(s: State, replica: int) -> str:
    """Describe a follower's one fetch, and the acknowledgements that a broker still owes."""
    due = (
        [f"ack due: {as_records(awaited_records(s, replica))}"]
        if awaited_records(s, replica)
        else []
    )
    if not follows(s, replica) or s.fetch[replica] == IDLE:
        return "; ".join(due) or NOTHING
    return "; ".join([_fetch_in_flight(s, replica), *due])


def _fetch_in_flight(s: State, replica: int) -> str:
    offset = s.answer_offset[replica]
    text = {
        REQUESTED: f"fetch from {s.leo[replica]}",
        PARKED: f"parked from {s.leo[replica]}",
        DIVERGING: f"diverging, cut at {offset}{', the last' if s.cuts_finally[replica] else ''}",
        OUT_OF_RANGE: f"out of range, LEO {offset}",
    }
    if s.fetch[replica] in text:
        return text[s.fetch[replica]]
    kind = "checked, answer" if s.fetch[replica] == CHECKED else "answer"
    return " ".join([kind, *ids(answered_records(s, replica))]) + f", HW {offset}"
