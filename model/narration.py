"""How a person reads the protocol: each step as a sentence in Kafka's words, each state as a table.

Sentences are derived from the states before and after a step, so they say what happened and not
what a rule intended. Rows and summary together show everything that a state holds: two states that
read the same are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from model.epochs import end_offset_for, latest_epoch
from model.roles import follows
from model.state import State
from model.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
    contains,
)
from model.transition_system import Arguments, Narration

HEADER = ["Broker", "State", "LEO", "HW", "Ckpt", "Remote LEO", "ISR", "Log", "In flight"]
LANES = ("LEO", "HW")
"""The columns to follow where there is room for two a broker."""

NOTHING = "-"


def sentence(action: str, arguments: Arguments, before: State, after: State) -> str:
    """What happened from `before` to `after`. Raises `KeyError` for an action it does not know."""
    return _SENTENCES[action](before, after, *arguments)


def rows(state: State) -> list[list[str]]:
    """A header, then one row a broker. Ckpt and Remote LEO are offsets; a record is id@epoch."""
    return [list(HEADER), *(_row(state, replica) for replica in range(state.replicas))]


def summary(state: State) -> list[tuple[str, str]]:
    """What the controller has decided, what the world outside has seen, what faults there were."""
    leader = f"leader r{state.leader}" if state.leader != NO_REPLICA else "no leader"
    born = range(1, state.produced + 1)
    committed = [state.exposed[offset] for offset in range(state.exposed_end)]
    acked = [record for record in born if contains(state.acked, record - 1)]
    return [
        (
            "Controller",
            f"{leader}, epoch {state.epoch}, ISR {_set(state, state.isr)}, "
            f"fenced {_set(state, state.fenced)}",
        ),
        ("Produced", _list(_with_epoch(state, record) for record in born)),
        ("Committed", _records(committed) or "none"),
        ("Acknowledged", _records(acked) or "none"),
        (
            "Faults",
            f"{_count(state.restarts_used, 'crash', 'crashes')}, "
            f"{_count(state.moves_used, 'move', 'moves')}",
        ),
    ]


# --- a state -------------------------------------------------------------------------------------


def _row(s: State, replica: int) -> list[str]:
    leads = s.role[replica] == LEADER
    log = [_with_epoch(s, s.log[replica, offset]) for offset in range(s.leo[replica])]
    return [
        f"r{replica}",
        _state(s, replica),
        str(s.leo[replica]),
        str(s.hw[replica]) if s.up[replica] == 1 else NOTHING,
        str(s.checkpoint[replica]),
        _remote_leos(s, replica) if leads else NOTHING,
        _list(f"r{member}" for member in _members(s, s.known_isr[replica])) if leads else NOTHING,
        " ".join(log) or "empty",
        _in_flight(s, replica),
    ]


def _state(s: State, replica: int) -> str:
    if s.up[replica] == 0:
        return "down"
    epoch = f"e{s.known_epoch[replica]}"
    if s.role[replica] == LEADER:
        return f"leader {epoch}"
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
            known.append(f"r{follower}:{'?' if offset == UNKNOWN_OFFSET else offset}")
    return _list(known)


def _in_flight(s: State, replica: int) -> str:
    """A follower's one fetch, or the records of which a leader still owes the acknowledgement."""
    if s.role[replica] == LEADER:
        due = [r + 1 for r in range(s.records) if contains(s.unanswered[replica], r)]
        return f"ack due: {_records(due)}" if due else NOTHING
    if not follows(s, replica) or s.fetch[replica] == IDLE:
        return NOTHING
    offset = s.answer_offset[replica]
    if s.fetch[replica] == REQUESTED:
        return f"fetch from {s.leo[replica]}"
    if s.fetch[replica] == PARKED:
        return f"parked from {s.leo[replica]}"
    if s.fetch[replica] == OUT_OF_RANGE:
        return f"out of range, LEO {offset}"
    return " ".join(["answer", *_ids(_answered(s, replica))]) + f", HW {offset}"


# --- a step --------------------------------------------------------------------------------------


def _produce(before: State, after: State, leader: int) -> str:
    record, offset, by = after.produced, before.leo[leader], _leader(before, leader)
    appended = f"A producer's record m{record} is appended at offset {offset} by {by}"
    return _told(appended, _at_leader(before, after, leader))


def _send_fetch(before: State, after: State, follower: int) -> str:
    leader, offset = before.known_leader[follower], before.leo[follower]
    return f"r{follower} sends r{leader} a fetch from offset {offset}."


def _leader_fetch(before: State, after: State, follower: int) -> str:
    leader, offset = before.known_leader[follower], before.leo[follower]
    fetch = f"r{follower}'s fetch from offset {offset}"
    if before.role[leader] != LEADER:
        return _unanswered_fetch(before, leader, fetch)
    if after.fetch[follower] == OUT_OF_RANGE:
        return _out_of_range(before, leader, fetch)
    told = [f"remote LEO {offset}"]
    if after.isr != before.isr:
        told.append(f"r{follower} joins the ISR {_set(after, after.isr)}")
    told += _at_leader(before, after, leader) or [f"HW stays {after.hw[leader]}"]
    told.append(_answer(after, follower))
    handled = f"r{leader} handles {fetch}: {told[0]}"
    return _told(handled, told[1:])


def _wake_parked(before: State, after: State, follower: int) -> str:
    leader = before.known_leader[follower]
    fetch = f"r{follower}'s parked fetch from offset {before.leo[follower]}"
    if before.role[leader] != LEADER:
        return _unanswered_fetch(before, leader, fetch)
    if after.fetch[follower] == OUT_OF_RANGE:
        return _out_of_range(before, leader, fetch)
    return f"r{leader} completes {fetch}: {_answer(after, follower)}."


def _receive_fetch(before: State, after: State, follower: int) -> str:
    end, answered = after.leo[follower], before.answer_offset[follower]
    records = _records(_answered(before, follower))
    got = f"r{follower} appends {records}" if records else f"r{follower} receives no record"
    was = before.hw[follower]
    moved = "" if after.hw[follower] >= was else f", down from {was}"
    return f"{got}: LEO {end}, HW min({end}, {answered}) = {after.hw[follower]}{moved}."


def _receive_out_of_range(before: State, after: State, follower: int) -> str:
    leader, end = before.known_leader[follower], before.answer_offset[follower]
    told = f"r{follower} learns that r{leader}'s LEO is {end}, below its own {before.leo[follower]}"
    if after.up[follower] == 0:
        return f"{told}: unclean election is off, truncation is not allowed, the process exits."
    return f"{told}: it truncates to it, {_removed(before, after, follower)}."


def _shrink_isr(before: State, after: State, leader: int, follower: int) -> str:
    return _told(
        f"r{leader} {_lagging(before, leader, follower)} and takes it out of the ISR, "
        f"now {_set(after, after.isr)}",
        _at_leader(before, after, leader),
    )


def _lagging(before: State, leader: int, follower: int) -> str:
    if before.remote_leo[leader, follower] == UNKNOWN_OFFSET:
        return f"has not heard from r{follower}"
    return f"finds r{follower} {'lagging' if before.up[follower] else 'gone'}"


def _checkpoint(before: State, after: State, replica: int) -> str:
    old, new = before.checkpoint[replica], after.checkpoint[replica]
    return f"r{replica} writes its HW to replication-offset-checkpoint: {old} -> {new}."


def _crash(before: State, after: State, replica: int) -> str:
    who = f"leader r{replica}" if before.role[replica] == LEADER else f"r{replica}"
    told = [f"checkpoint {after.checkpoint[replica]} and log (LEO {after.leo[replica]}) stay"]
    lost = [
        f"r{follower}'s fetch is lost"
        for follower in range(before.replicas)
        if follows(before, follower)
        and before.fetch[follower] != IDLE
        and (not follows(after, follower) or after.fetch[follower] == IDLE)
    ]
    told += [*lost, *_never_acked(before, after, replica)]
    return _told(f"The process of {who} crashes: HW {before.hw[replica]} in memory is gone", told)


def _restart(before: State, after: State, replica: int) -> str:
    noticed = contains(before.fenced, replica)
    manner = " and registers" if noticed else ", unnoticed by the controller"
    hw = (
        f"HW := min(checkpoint {after.checkpoint[replica]}, LEO {after.leo[replica]})"
        f" = {after.hw[replica]}"
    )
    return _told(f"r{replica} starts again{manner}: {hw}", _election(before, after))


def _fence(before: State, after: State, replica: int) -> str:
    told = f"The controller notices that r{replica} is down"
    if not contains(before.isr, replica):
        return f"{told}; it was not in the ISR."
    members = _set(after, after.isr)
    left = (
        f"it is the last of the ISR {members} and stays in it"
        if contains(after.isr, replica)
        else f"it leaves the ISR, now {members}"
    )
    return _told(told, [left, *_election(before, after)])


def _fence_and_elect(before: State, after: State, replica: int, winner: int) -> str:
    return _fence(before, after, replica)


def _move(before: State, after: State, replica: int) -> str:
    return (
        f"The controller moves leadership from r{before.leader} to r{replica}: "
        f"epoch {after.epoch}, ISR {_set(after, after.isr)} unchanged."
    )


def _learn(before: State, after: State, replica: int) -> str:
    epoch, leader = after.known_epoch[replica], after.leader
    if leader == replica:
        again = "still leads, now" if before.role[replica] == LEADER else "leads"
        log = f"LEO {after.leo[replica]}, HW {before.hw[replica]}"
        told = f"r{replica} learns that it {again} in epoch {epoch}: {log}"
        return _told(told, _at_leader(before, after, replica))
    told = f"r{replica} learns that r{leader} leads in epoch {epoch}"
    if follows(before, replica) and before.known_leader[replica] == leader:
        return f"{told}; it is the same leader, so r{replica} truncates nothing and carries on."
    if after.role[replica] == TRUNCATING:
        cut = "it will ask where its last epoch ends before it fetches"
    else:
        cut = f"it truncates to its own HW {before.hw[replica]}, {_removed(before, after, replica)}"
    return _told(f"{told} and follows it: {cut}", _never_acked(before, after, replica))


def _offset_for_leader_epoch(before: State, after: State, follower: int) -> str:
    leader, epoch = before.known_leader[follower], latest_epoch(before, follower)
    last = "having no record" if epoch == NO_EPOCH else "the last in its log"
    end = end_offset_for(before, leader, epoch)
    if end == UNKNOWN_OFFSET:
        cut = f"undefined: it truncates to its HW {before.hw[follower]}"
    else:
        cut = f"{end}: it truncates to {after.leo[follower]}"
    asked = f"r{follower} asks r{leader} where epoch {epoch} ends, {last}"
    return f"{asked}; the answer is {cut}, {_removed(before, after, follower)}."


_SENTENCES: dict[str, Callable[..., str]] = {
    "Produce": _produce,
    "SendFetch": _send_fetch,
    "LeaderFetch": _leader_fetch,
    "WakeParked": _wake_parked,
    "RecvFetch": _receive_fetch,
    "RecvOutOfRange": _receive_out_of_range,
    "ShrinkIsr": _shrink_isr,
    "Checkpoint": _checkpoint,
    "Crash": _crash,
    "Restart": _restart,
    "Fence": _fence,
    "FenceAndElect": _fence_and_elect,
    "Move": _move,
    "Learn": _learn,
    "OffsetForLeaderEpoch": _offset_for_leader_epoch,
}


# --- what sentences have in common ---------------------------------------------------------------


def _told(first: str, rest: Iterable[str]) -> str:
    return "; ".join([first, *rest]) + "."


def _leader(s: State, leader: int) -> str:
    """A stale leader is named as what it believes to be."""
    epoch = s.known_epoch[leader]
    if s.leader == leader and s.epoch == epoch:
        return f"leader r{leader} (epoch {epoch})"
    return f"r{leader}, which still leads in epoch {epoch} as far as it knows"


def _at_leader(before: State, after: State, leader: int) -> list[str]:
    """How a leader's high watermark moved, what that committed, who got an answer."""
    told = []
    if before.hw[leader] != after.hw[leader]:
        told.append(f"HW {before.hw[leader]} -> {after.hw[leader]}")
    committed = [after.exposed[o] for o in range(before.exposed_end, after.exposed_end)]
    acked = [r + 1 for r in range(after.records) if contains(after.acked & ~before.acked, r)]
    if committed == acked and committed:
        return [*told, f"{_are(committed)} committed and acknowledged"]
    if committed:
        told.append(f"{_are(committed)} committed")
    if acked:
        told.append(f"{_are(acked)} acknowledged")
    return told


def _never_acked(before: State, after: State, replica: int) -> list[str]:
    """A leader that stops leading takes its waiting produce requests with it."""
    if before.role[replica] != LEADER or before.unanswered[replica] == 0:
        return []
    due = [r + 1 for r in range(before.records) if contains(before.unanswered[replica], r)]
    return [f"{_records(due)} will never be acknowledged"]


def _election(before: State, after: State) -> list[str]:
    """Whom the controller made leader, if anybody."""
    if before.epoch == after.epoch:
        return []
    if after.leader == NO_REPLICA:
        return ["no replica can lead (NoReplicaOnlineException)"]
    if before.leader == after.leader:
        return [f"r{after.leader} stays leader, now in epoch {after.epoch}"]
    unclean = "" if contains(before.isr, after.leader) else " from outside the ISR (unclean)"
    return [f"r{after.leader} is elected leader of epoch {after.epoch}{unclean}"]


def _unanswered_fetch(s: State, leader: int, fetch: str) -> str:
    if s.up[leader] == 0:
        return f"{fetch} does not reach r{leader}, which is down."
    return f"r{leader} refuses {fetch}: NOT_LEADER_FOR_PARTITION."


def _out_of_range(s: State, leader: int, fetch: str) -> str:
    return f"r{leader} refuses {fetch}, beyond its LEO {s.leo[leader]}: OFFSET_OUT_OF_RANGE."


def _answer(s: State, follower: int) -> str:
    if s.fetch[follower] == PARKED:
        return "nothing to answer yet, the fetch is parked"
    assert s.fetch[follower] == ANSWERED
    records = _records(_answered(s, follower)) or "no record"
    return f"it answers {records}, HW {s.answer_offset[follower]}"


def _answered(s: State, follower: int) -> list[int]:
    carried = [s.answer_log[follower, i] for i in range(s.records)]
    return [record for record in carried if record != NO_RECORD]


def _removed(before: State, after: State, replica: int) -> str:
    gone = [before.log[replica, o] for o in range(after.leo[replica], before.leo[replica])]
    return f"removing {_records(gone)}" if gone else "removing nothing"


def _members(s: State, members: int) -> list[int]:
    return [replica for replica in range(s.replicas) if contains(members, replica)]


def _set(s: State, members: int) -> str:
    return "{" + ", ".join(f"r{member}" for member in _members(s, members)) + "}"


def _with_epoch(s: State, record: int) -> str:
    return f"m{record}@{s.record_epoch[record - 1]}"


def _ids(records: Iterable[int]) -> list[str]:
    return [f"m{record}" for record in records]


def _records(records: Iterable[int]) -> str:
    return " ".join(_ids(records))


def _list(parts: Iterable[str]) -> str:
    return " ".join(parts) or "none"


def _are(records: list[int]) -> str:
    return f"{_records(records)} {'is' if len(records) == 1 else 'are'}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


NARRATION = Narration(sentence=sentence, rows=rows, summary=summary)
