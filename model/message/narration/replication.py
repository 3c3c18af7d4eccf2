"""Sentences for steps of replication: producing, fetching, the ISR, truncating, reading."""

from __future__ import annotations

from collections.abc import Callable

from waterline.model.core.state import State
from waterline.model.message.epochs import latest_epoch
from waterline.model.message.features import FOLLOWER_HW_AT_END, PARTITION_EPOCH_CHECK, has
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.narration.phrases import (
    answered_records,
    answering,
    as_records,
    as_set,
    assignment,
    at_leader,
    describe_removal,
    election,
    isr_change,
    join,
    leading,
    never_acked,
    no_answer,
    out_of_range,
)
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    BOOK_BY_EPOCH,
    CHECKED,
    DIVERGING,
    GRANTED,
    IDLE,
    LEADER,
    NO_EPOCH,
    OUT_OF_RANGE,
    REFUSED,
    REPLAYS_OLDER,
    TRUNCATING,
    UNKNOWN_OFFSET,
)
from waterline.model.message.truncation import end_offset_for


def _produce(c: Settings, before: State, after: State, leader: int) -> str:
    record, offset, by = after.produced, before.leo[leader], leading(before, leader)
    appended = f"A producer's record m{record} is appended at offset {offset} by {by}"
    return join(appended, at_leader(before, after, leader))


def _send_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, offset = before.known_leader[follower], before.leo[follower]
    return f"r{follower} sends r{leader} a fetch from offset {offset}."


def _leader_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, offset = before.known_leader[follower], before.leo[follower]
    fetch = f"r{follower}'s fetch from offset {offset}"
    if after.fetch[follower] == IDLE:
        refused = no_answer(c, before, leader, before.known_epoch[follower], fetch)
        # A refused fetch has the broker look at who waits there (0.8 and 0.9).
        return join(refused.removesuffix("."), never_acked(before, after, leader))
    if after.fetch[follower] == OUT_OF_RANGE:
        refused = out_of_range(before, leader, fetch)
        return join(refused.removesuffix("."), at_leader(before, after, leader))
    learned = [*isr_change(before, after, leader, follower), *at_leader(before, after, leader)]
    if after.fetch[follower] == DIVERGING:
        if after.remote_leo[leader, follower] != before.remote_leo[leader, follower]:
            learned.insert(0, f"remote LEO {offset} all the same")
        return join(f"r{leader} answers {fetch} {_parting(c, before, leader, follower)}", learned)
    if not at_leader(before, after, leader):
        learned.append(f"HW stays {after.hw[leader]}")
    handled = f"r{leader} handles {fetch}: remote LEO {offset}"
    return join(handled, [*learned, answering(after, follower)])


def _parting(c: Settings, s: State, leader: int, follower: int) -> str:
    last = latest_epoch(s, c, follower)
    epoch, end = end_offset_for(s, c, leader, last)
    return f"with a diverging epoch: of epochs up to {last} it has {epoch}, which ends at {end}"


def _check_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, offset = after.booking_to, after.booking_offset
    return (
        f"r{leader}, in epoch {before.known_epoch[leader]}, checks r{follower}'s fetch from offset "
        f"{offset} and reads its log; it has not taken note of the offset yet."
    )


def _book_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, offset = before.booking_to, before.booking_offset
    noted = [f"r{leader} takes note of r{follower}'s fetch from offset {offset}, checked before"]
    rest = []
    if before.role[leader] != LEADER:
        noted.append("it leads no more, and notes nothing")
    else:
        rest = [*isr_change(before, after, leader, follower), *at_leader(before, after, leader)]
        noted.append(_describe_noted(c, before, after, follower))
    if follows(before, follower) and before.fetch[follower] == CHECKED:
        rest.append(answering(after, follower))
    return join(": ".join(noted), rest)


def _describe_noted(c: Settings, before: State, after: State, follower: int) -> str:
    """Describe what a leader does with an offset that it notes late."""
    leader, offset = before.booking_to, before.booking_offset
    if before.booking_void and c.late_booking == BOOK_BY_EPOCH:
        return "its epoch is over, and it notes nothing"
    if before.booking_void:
        return "the Replica object has been replaced"
    if after.remote_leo[leader, follower] != offset:
        return "its broker epoch is of the past, and it notes nothing"
    return f"remote LEO {offset}, in epoch {before.known_epoch[leader]}"


def _wake_parked(c: Settings, before: State, after: State, follower: int) -> str:
    leader = before.known_leader[follower]
    fetch = f"r{follower}'s parked fetch from offset {before.leo[follower]}"
    if after.fetch[follower] == IDLE:
        return no_answer(c, before, leader, before.known_epoch[follower], fetch)
    if after.fetch[follower] == OUT_OF_RANGE:
        return out_of_range(before, leader, fetch)
    if after.fetch[follower] == DIVERGING:
        return f"r{leader} completes {fetch} {_parting(c, before, leader, follower)}."
    return f"r{leader} completes {fetch}: {answering(after, follower)}."


def _read_late(c: Settings, before: State, after: State, follower: int) -> str:
    was = as_records(answered_records(before, follower))
    now = as_records(answered_records(after, follower)) or "no record"
    return (
        f"r{before.known_leader[follower]} has written its log anew where its answer to "
        f"r{follower} points to: the answer brings {now}, not {was}."
    )


def _receive_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    end, text = after.leo[follower], before.answer_offset[follower]
    records = as_records(answered_records(before, follower))
    got = f"r{follower} appends {records}" if records else f"r{follower} receives no record"
    was = before.hw[follower]
    moved = "" if after.hw[follower] >= was else f", down from {was}"
    if has(c, FOLLOWER_HW_AT_END):
        return f"{got}: LEO {end}, and so HW {end}, whatever the answer says{moved}."
    return f"{got}: LEO {end}, HW min({end}, {text}) = {after.hw[follower]}{moved}."


def _receive_out_of_range(c: Settings, before: State, after: State, follower: int) -> str:
    leader, end = before.known_leader[follower], before.answer_offset[follower]
    text = f"r{follower} learns that r{leader}'s LEO is {end}, its own {before.leo[follower]}"
    if after.up[follower] == 0:
        return f"{text}: unclean election is off, truncation is not allowed, the process exits."
    return f"{text}: it truncates to it, {describe_removal(before, after, follower)}."


def _receive_diverging(c: Settings, before: State, after: State, follower: int) -> str:
    return (
        f"r{follower} learns where its log parts from that of r{before.known_leader[follower]}: "
        f"it truncates to {after.leo[follower]}, {describe_removal(before, after, follower)}."
    )


def _stray_fetch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, offset = before.stray_to, before.stray_offset
    fetch = f"r{follower}'s old fetch from offset {offset} reaches r{leader} all the same"
    learned = [*isr_change(before, after, leader, follower), *at_leader(before, after, leader)]
    return join(f"{fetch}: remote LEO {offset}", learned)


def _lose_stray(c: Settings, before: State, after: State) -> str:
    return f"r{before.stray_from}'s old fetch to r{before.stray_to} is lost."


def _shrink_isr(c: Settings, before: State, after: State, leader: int, follower: int) -> str:
    found = f"r{leader} {_lagging(before, leader, follower)}"
    if after.pending_isr[leader] != before.pending_isr[leader]:
        return (
            f"{found} and asks the controller for ISR {as_set(after, after.pending_isr[leader])}."
        )
    out = f"{found} and takes it out of the ISR, now {as_set(after, after.isr)}"
    return join(out, at_leader(before, after, leader))


def _shrink_together(c: Settings, before: State, after: State, leader: int, followers: int) -> str:
    asked = as_set(after, after.pending_isr[leader])
    lagging = as_set(before, followers)
    return f"r{leader} finds {lagging} lagging and asks the controller for ISR {asked}."


def _lag_time_passes(c: Settings, before: State, after: State, leader: int, follower: int) -> str:
    return f"replica.lag.time.max.ms has passed since r{follower} caught up with r{leader}."


def _learn_brokers(c: Settings, before: State, after: State, leader: int) -> str:
    gone = after.seen_unavailable[leader]
    if gone == before.seen_unavailable[leader]:
        who = as_set(after, after.read_registrations[leader] & ~before.read_registrations[leader])
        return f"r{leader}'s metadata has the new registration of {who} now."
    what = f"{as_set(after, gone)} fenced or shutting down" if gone else "every broker up"
    return f"r{leader}'s metadata has {what} now."


def _lagging(before: State, leader: int, follower: int) -> str:
    if before.remote_leo[leader, follower] == UNKNOWN_OFFSET:
        return f"has not heard from r{follower}"
    return f"finds r{follower} {'lagging' if before.up[follower] else 'gone'}"


def _alter_partition(c: Settings, before: State, after: State, leader: int, winner: int = 0) -> str:
    asked = f"r{leader}'s AlterPartition for ISR {as_set(before, before.pending_isr[leader])}"
    if before.assigned != after.assigned or before.adding != after.adding:
        text = f"The controller accepts {asked}, which completes the reassignment"
        return join(text, assignment(before, after, before.pending_isr[leader]))
    if before.isr == after.isr:
        late = "; the answer is on its way" if after.answer[leader] == REFUSED else ""
        return f"The controller refuses {asked}{late}."
    rest = at_leader(before, after, leader)
    if after.elr:
        rest.insert(0, f"ELR {as_set(after, after.elr)}")
    if after.answer[leader] == GRANTED:
        rest.append("the answer is on its way")
    return join(f"The controller accepts {asked}", [*election(before, after), *rest])


def _hear_answer(c: Settings, before: State, after: State, leader: int) -> str:
    asked = as_set(before, before.pending_isr[leader])
    if before.answer[leader] == GRANTED:
        return join(f"r{leader} hears that ISR {asked} holds", at_leader(before, after, leader))
    known = as_set(after, after.known_isr[leader])
    return f"r{leader} hears that ISR {asked} was refused, and goes by {known} again."


def _replay(c: Settings, before: State, after: State, leader: int) -> str:
    is_older = before.replay[leader] == REPLAYS_OLDER
    isr = as_set(before, (before.replay_isr if is_older else before.known_isr)[leader])
    record = f"r{leader} replays the record of ISR {isr}"
    if is_older and has(c, PARTITION_EPOCH_CHECK):
        return f"{record}, and skips it: it knows of a newer one."
    learned = at_leader(before, after, leader)
    if is_older:
        learned.insert(0, "it takes that for the newest")
    if before.pending_isr[leader] and counted_isr(after, c, leader) != counted_isr(
        before, c, leader
    ):
        asked = as_set(before, before.pending_isr[leader])
        learned.insert(0, f"it forgets that it has asked for {asked}")
    return join(record, learned)


def _offset_for_leader_epoch(c: Settings, before: State, after: State, follower: int) -> str:
    leader, epoch = before.known_leader[follower], latest_epoch(before, c, follower)
    last = "having no record" if epoch == NO_EPOCH else "its last"
    meant, end = end_offset_for(before, c, leader, epoch)
    cut = f"it truncates to {after.leo[follower]}, {describe_removal(before, after, follower)}"
    if end == UNKNOWN_OFFSET:
        answer = f"undefined: it falls back on its HW {before.hw[follower]}; {cut}"
    elif meant == epoch:
        answer = f"{end}: {cut}"
    else:
        answer = f"{end}, for epoch {meant}: {cut}"
    if after.role[follower] == TRUNCATING:
        answer += ", and will ask again"
    return f"r{follower} asks r{leader} where epoch {epoch} ends, {last}; the answer is {answer}."


def _consume(c: Settings, before: State, after: State, leader: int) -> str:
    reads = f"The consumer reads from {leading(before, leader)} at offset {before.consumed}"
    if after.misread:
        return (
            f"{reads}; below it there is m{before.log[leader, before.consumed - 1]} by now, not "
            f"m{before.last_consumed}, which it read last: it goes on and notices nothing."
        )
    if after.consumed < before.consumed:
        return f"{reads} and learns that its log was truncated (LogTruncationException)."
    return f"{reads}: m{after.last_consumed}."


SENTENCES: dict[str, Callable[..., str]] = {
    "Produce": _produce,
    "SendFetch": _send_fetch,
    "LeaderFetch": _leader_fetch,
    "CheckFetch": _check_fetch,
    "BookFetch": _book_fetch,
    "WakeParked": _wake_parked,
    "ReadLate": _read_late,
    "RecvFetch": _receive_fetch,
    "RecvOutOfRange": _receive_out_of_range,
    "RecvDiverging": _receive_diverging,
    "StrayFetch": _stray_fetch,
    "LoseStray": _lose_stray,
    "ShrinkIsr": _shrink_isr,
    "ShrinkTogether": _shrink_together,
    "LagTimePasses": _lag_time_passes,
    "LearnBrokers": _learn_brokers,
    "AlterPartition": _alter_partition,
    "AlterAndElect": _alter_partition,
    "HearAnswer": _hear_answer,
    "Replay": _replay,
    "OffsetForLeaderEpoch": _offset_for_leader_epoch,
    "Consume": _consume,
}
