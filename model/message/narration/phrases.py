"""Phrases that sentences and tables have in common."""

from __future__ import annotations

from collections.abc import Iterable

from waterline.model.core.state import State
from waterline.model.message.epochs import epoch_at, latest_epoch
from waterline.model.message.features import EPOCH_ON_LEADING, has
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ANSWERED,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    PARKED,
    contains,
)


def join(first: str, rest: Iterable[str]) -> str:
    """A sentence of several parts."""
    return "; ".join([first, *rest]) + "."


def leading(s: State, leader: int) -> str:
    """A stale leader is named as what it believes to be."""
    epoch = s.known_epoch[leader]
    if s.leader == leader and s.epoch == epoch:
        return f"leader r{leader} (epoch {epoch})"
    return f"r{leader}, which still leads in epoch {epoch} as far as it knows"


def at_leader(before: State, after: State, leader: int) -> list[str]:
    """Describe the move of a leader's high watermark, the records committed, and the answers."""
    text = []
    if before.hw[leader] != after.hw[leader]:
        text.append(f"HW {before.hw[leader]} -> {after.hw[leader]}")
    committed = [after.exposed[o] for o in range(before.exposed_end, after.exposed_end)]
    acked = [r + 1 for r in range(after.records) if contains(after.acked & ~before.acked, r)]
    if committed == acked and committed:
        return [*text, f"{are(committed)} committed and acknowledged"]
    if committed:
        text.append(f"{are(committed)} committed")
    if acked:
        text.append(f"{are(acked)} acknowledged")
    return text


def awaited_records(s: State, replica: int) -> list[int]:
    """The records whose producers wait for an answer of this broker."""
    members = s.unanswered[replica] if s.role[replica] == LEADER else 0
    for offset in range(s.records):
        members |= s.still_waiting[replica, offset]
    return [r + 1 for r in range(s.records) if contains(members, r)]


def never_acked(before: State, after: State, replica: int) -> list[str]:
    """A leader that stops leading takes its waiting produce requests with it, or lets them wait."""
    due, still = awaited_records(before, replica), awaited_records(after, replica)
    gone = [record for record in due if record not in still]
    text = [f"{as_records(gone)} will never be acknowledged"] if gone else []
    if still and before.role[replica] == LEADER:
        waits = "producer waits" if len(still) == 1 else "producers wait"
        text.append(f"the {waits} on for {as_records(still)}")
    return text


def election(before: State, after: State, joining: int = 0) -> list[str]:
    """The election of the step, if any; the replicas `joining` have come into the ISR by it."""
    if before.epoch == after.epoch:
        return []
    if after.leader == NO_REPLICA:
        return ["no replica can lead (NoReplicaOnlineException)"]
    if before.leader == after.leader:
        return [f"r{after.leader} stays leader, now in epoch {after.epoch}"]
    whence = ""
    if not contains(before.isr | joining, after.leader):
        whence = " from outside the ISR (unclean)"
        if _was_eligible(before, after.leader):
            whence = " from the ELR"
        elif before.last_leader == after.leader:
            whence = " as the last known leader (unclean)"
    return [f"r{after.leader} is elected leader of epoch {after.epoch}{whence}"]


def _was_eligible(before: State, winner: int) -> bool:
    """True if the winner was in the ELR, which a broker that returns from a crash leaves first."""
    returns_unclean = before.up[winner] == 0 and before.unclean[winner] == 1
    return contains(before.elr, winner) and not (
        returns_unclean and contains(before.fenced, winner)
    )


def no_answer(c: Settings, s: State, leader: int, epoch: int, fetch: str) -> str:
    """Describe why a fetch that was sent in `epoch` has no effect."""
    if s.up[leader] == 0:
        return f"{fetch} does not reach r{leader}, which is down."
    if s.role[leader] != LEADER:
        return f"r{leader} refuses {fetch}: NOT_LEADER_FOR_PARTITION."
    error = "FENCED" if epoch < s.known_epoch[leader] else "UNKNOWN"
    return (
        f"r{leader}, in epoch {s.known_epoch[leader]}, refuses {fetch} of epoch {epoch}: "
        f"{error}_LEADER_EPOCH."
    )


def out_of_range(s: State, leader: int, fetch: str) -> str:
    """Describe the refusal of an offset that the leader cannot serve."""
    return f"r{leader} refuses {fetch}, beyond its LEO {s.leo[leader]}: OFFSET_OUT_OF_RANGE."


def isr_change(before: State, after: State, leader: int, follower: int) -> list[str]:
    """Describe the effect of a fetch on the follower's place in the ISR."""
    if after.isr != before.isr:
        return [f"r{follower} joins the ISR {as_set(after, after.isr)}"]
    if after.pending_isr[leader] != before.pending_isr[leader]:
        return [f"it asks the controller for ISR {as_set(after, after.pending_isr[leader])}"]
    return []


def answering(s: State, follower: int) -> str:
    """Describe a leader's answer to a fetch."""
    if s.fetch[follower] == PARKED:
        return "nothing to answer yet, the fetch is parked"
    assert s.fetch[follower] == ANSWERED
    records = as_records(answered_records(s, follower)) or "no record"
    return f"it answers {records}, HW {s.answer_offset[follower]}"


def answered_records(s: State, follower: int) -> list[int]:
    """The records that an answer carries."""
    carried = [s.answer_log[follower, i] for i in range(s.records)]
    return [record for record in carried if record != NO_RECORD]


def describe_removal(before: State, after: State, replica: int) -> str:
    """Describe the records that a truncation removed."""
    gone = [before.log[replica, o] for o in range(after.leo[replica], before.leo[replica])]
    return f"removing {as_records(gone)}" if gone else "removing nothing"


def members_of(members: int, size: int) -> tuple[int, ...]:
    """The members of a set of replicas or records, of so many, in order."""
    return tuple(each for each in range(size) if contains(members, each))


def epoch_cache(s: State, c: Settings, replica: int) -> list[tuple[int, int]]:
    """The entries that the replica's cache has in this state: (epoch, first offset)."""
    entries: list[tuple[int, int]] = []
    for offset in range(s.leo[replica]):
        _enter(entries, epoch_at(s, replica, offset), offset, c)
    latest = latest_epoch(s, c, replica)
    if latest != NO_EPOCH:
        _enter(entries, latest, s.leo[replica], c)
    return entries


def _enter(entries: list[tuple[int, int]], epoch: int, offset: int, c: Settings) -> None:
    """Enter an epoch as LeaderEpochFileCache.assign does: see `model.message.epochs`."""
    if entries and entries[-1][0] == epoch:
        return
    if has(c, EPOCH_ON_LEADING):
        while entries and entries[-1][0] >= epoch:
            entries.pop()
    elif entries and entries[-1][0] > epoch:
        return
    entries.append((epoch, offset))


def as_set(s: State, members: int) -> str:
    """`{r0, r2}`"""
    return "{" + ", ".join(f"r{member}" for member in members_of(members, s.replicas)) + "}"


def assignment(before: State, after: State, joining: int = 0) -> list[str]:
    """The change of the partition: replicas, ISR and ELR, then the election."""
    text = f"replicas {as_set(after, after.assigned)}"
    for word, members in (("adding", after.adding), ("removing", after.removing)):
        text += f", {word} {as_set(after, members)}" if members else ""
    if before.isr != after.isr:
        text += f", ISR {as_set(after, after.isr)}"
    if before.elr != after.elr:
        text += f", ELR {as_set(after, after.elr)}"
    return [text, *election(before, after, joining)]


def with_epoch(s: State, record: int) -> str:
    """`m1@0`: a record and the epoch it was written in."""
    return f"m{record}@{s.record_epoch[record - 1]}"


def ids(records: Iterable[int]) -> list[str]:
    """`m1`, `m2`"""
    return [f"m{record}" for record in records]


def as_records(records: Iterable[int]) -> str:
    """`m1 m2`"""
    return " ".join(ids(records))


def as_list(parts: Iterable[str]) -> str:
    """The parts, or `none`."""
    return " ".join(parts) or "none"


def are(records: list[int]) -> str:
    """`m1 is`, `m1 m2 are`"""
    return f"{as_records(records)} {'is' if len(records) == 1 else 'are'}"


def count_of(number: int, one: str, many: str) -> str:
    """`1 crash`, `2 crashes`"""
    return f"{number} {one if number == 1 else many}"
