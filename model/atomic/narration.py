"""Description of the atomic grain for people: each step as a sentence, each state as a table.

Sentences are derived from the states before and after a step, so they say what happened and not
what a rule intended. Rows and summary together show everything that a state holds: two states that
read the same are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from waterline.model.atomic.state import (
    is_true_leader,
    known_leader,
    leads,
    quorum_isr,
    quorum_leader,
)
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments, Narration
from waterline.model.message.terms import NO_EPOCH, NO_REPLICA, contains

HEADER = ["Broker", "State", "LEO", "HW", "ISR", "Log"]
NOTHING = "-"


def sentence(action: str, arguments: Arguments, before: State, after: State) -> str:
    """Describe the step from `before` to `after`. Raises `KeyError` for an unknown action."""
    return _SENTENCES[action](before, after, *arguments)


def rows(state: State) -> list[list[str]]:
    """A header, then one row a broker; a record is id@epoch, and only a leader's ISR counts."""
    return [list(HEADER), *(_row(state, replica) for replica in range(state.replicas))]


def summary(state: State) -> list[tuple[str, str]]:
    """Return ZooKeeper's state, the LeaderAndIsr requests still to act on, and the records."""
    epoch = f"epoch {state.issued - 1}" if state.issued else "no epoch"
    sent = "; ".join(
        f"e{e}: {_name(state.request_leader[e])}, ISR {_set(state, state.request_isr[e])}"
        for e in range(state.issued)
    )
    return [
        (
            "Quorum",
            f"{_name(quorum_leader(state))}, {epoch}, ISR {_set(state, quorum_isr(state))}",
        ),
        ("LeaderAndIsr", sent or "none"),
        ("Produced", _records(range(1, state.produced + 1)) or "none"),
    ]


# --- a state -------------------------------------------------------------------------------------


def _row(s: State, replica: int) -> list[str]:
    log = [
        f"m{s.log[replica, offset]}@{s.record_epoch[s.log[replica, offset] - 1]}"
        for offset in range(s.leo[replica])
    ]
    return [
        f"r{replica}",
        _state(s, replica),
        str(s.leo[replica]),
        str(s.hw[replica]),
        _set(s, s.known_isr[replica]) if leads(s, replica) else NOTHING,
        " ".join(log) or "empty",
    ]


def _state(s: State, replica: int) -> str:
    epoch = s.known_epoch[replica]
    if epoch == NO_EPOCH:
        return "no role"
    if leads(s, replica):
        return f"leader e{epoch}"
    return f"follower r{known_leader(s, replica)} e{epoch}"


# --- a step --------------------------------------------------------------------------------------


def _elect_leader(before: State, after: State, replica: int) -> str:
    members = _set(after, quorum_isr(after))
    return f"The controller elects r{replica} leader of epoch {after.issued - 1}, ISR {members}."


def _remove_from_isr(before: State, after: State, replica: int) -> str:
    members, epoch = _set(after, quorum_isr(after)), after.issued - 1
    led = quorum_leader(before) == replica
    who = f"leader r{replica}" if led else f"r{replica}"
    if contains(quorum_isr(after), replica):
        left = f"it is the last of the ISR {members} and stays in it"
    else:
        left = f"it leaves the ISR, now {members}"
    leader = quorum_leader(after)
    now = f"r{leader} stays leader" if leader != NO_REPLICA else "nobody leads"
    return f"The controller takes {who} to have failed: {left}; epoch {epoch}, {now}."


def _become_leader(before: State, after: State, epoch: int) -> str:
    leader = after.request_leader[epoch]
    again = "still leads, now" if leads(before, leader) else "leads"
    return (
        f"r{leader} acts on the LeaderAndIsr of epoch {epoch}{_late(before, epoch)} and {again} "
        f"in epoch {epoch}: LEO {after.leo[leader]}, HW {after.hw[leader]}, "
        f"ISR {_set(after, after.known_isr[leader])}."
    )


def _become_follower(before: State, after: State, replica: int, epoch: int) -> str:
    leader = after.request_leader[epoch]
    gives_up = ", gives up leadership" if leads(before, replica) else ""
    return (
        f"r{replica} acts on the LeaderAndIsr of epoch {epoch}{_late(before, epoch)}{gives_up} "
        f"and follows r{leader}: {_cut(before, after, replica)}."
    )


def _produce(before: State, after: State, leader: int) -> str:
    offset = before.leo[leader]
    return (
        f"{_leader(before, leader)} appends m{after.produced} at offset {offset}: "
        f"LEO {after.leo[leader]}."
    )


def _advance_high_watermark(before: State, after: State, leader: int) -> str:
    offset = before.hw[leader]
    members = _set(before, before.known_isr[leader])
    return (
        f"{_leader(before, leader)} finds offset {offset} on all of its ISR {members}: "
        f"HW {offset} -> {after.hw[leader]}, m{after.log[leader, offset]} is committed."
    )


def _shrink_isr(before: State, after: State, leader: int, follower: int) -> str:
    members = _set(after, quorum_isr(after))
    return f"r{leader} finds r{follower} lagging and takes it out of the ISR, now {members}."


def _expand_isr(before: State, after: State, leader: int, follower: int) -> str:
    members = _set(after, quorum_isr(after))
    caught_up = f"r{follower} has caught up with HW {before.hw[leader]}"
    return f"r{leader} finds that {caught_up} and takes it into the ISR, now {members}."


def _fetch(before: State, after: State, follower: int) -> str:
    leader, end = known_leader(before, follower), after.leo[follower]
    was, hw = before.hw[follower], after.hw[follower]
    moved = "" if hw >= was else f", down from {was}"
    return (
        f"r{follower} fetches m{after.log[follower, end - 1]} from r{leader}: LEO {end}, "
        f"HW min({end}, {before.hw[leader]}) = {hw}{moved}."
    )


def _truncate(before: State, after: State, follower: int) -> str:
    leader = known_leader(before, follower)
    cut = _cut(before, after, follower)
    return f"r{follower}'s fetch shows that its log does not continue r{leader}'s: {cut}."


_SENTENCES: dict[str, Callable[..., str]] = {
    "ElectLeader": _elect_leader,
    "RemoveFromIsr": _remove_from_isr,
    "BecomeLeader": _become_leader,
    "ExpandIsr": _expand_isr,
    "ShrinkIsr": _shrink_isr,
    "Produce": _produce,
    "AdvanceHighWatermark": _advance_high_watermark,
    "BecomeFollower": _become_follower,
    "Fetch": _fetch,
    "Truncate": _truncate,
}


# --- what sentences have in common ---------------------------------------------------------------


def _leader(s: State, leader: int) -> str:
    """A stale leader is named as what it believes to be."""
    epoch = s.known_epoch[leader]
    if is_true_leader(s, leader):
        return f"leader r{leader} (epoch {epoch})"
    return f"r{leader}, which still leads in epoch {epoch} as far as it knows,"


def _late(s: State, epoch: int) -> str:
    newest = s.issued - 1
    return f" (late: the newest is of epoch {newest})" if epoch < newest else ""


def _cut(before: State, after: State, replica: int) -> str:
    """Describe the records that a step removed from a log, and the move of the high watermark."""
    end, was, hw = after.leo[replica], before.hw[replica], after.hw[replica]
    gone = [before.log[replica, offset] for offset in range(end, before.leo[replica])]
    moved = f"HW {hw}" if hw == was else f"HW {was} -> {hw}"
    if gone:
        return f"it truncates to {end}, removing {_records(gone)}; {moved}"
    return f"its log stays, LEO {end}; {moved}"


def _name(leader: int) -> str:
    return f"leader r{leader}" if leader != NO_REPLICA else "no leader"


def _set(s: State, members: int) -> str:
    inside = (replica for replica in range(s.replicas) if contains(members, replica))
    return "{" + ", ".join(f"r{replica}" for replica in inside) + "}"


def _records(records: Iterable[int]) -> str:
    return " ".join(f"m{record}" for record in records)


NARRATION = Narration(sentence=sentence, rows=rows, summary=summary)
