"""Replication by fetching: the request, the leader's handling, the answer.

A follower's fetch offset is its LEO, and it is also its acknowledgement of everything below: that
is why its high watermark lags the leader's by a round trip.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import knows_replica
from waterline.model.message.caught_up import note_catching_up
from waterline.model.message.epochs import latest_epoch
from waterline.model.message.features import (
    APPEND_CHECKS_EPOCH,
    APPEND_CHECKS_OLDER_EPOCH,
    DIVERGING_GUARD,
    FENCING,
    FOLLOWER_HW_AT_END,
    KRAFT,
    MOVED_FETCH_TRIES_HW,
    REFUSAL_TELLS_NOTHING,
    SESSION_FENCING,
    TRUNCATE_OUT_OF_RANGE,
    has,
)
from waterline.model.message.high_watermark import advance_high_watermark, look_at_producers
from waterline.model.message.isr import expand_isr
from waterline.model.message.leaderless import tells_of_no_leader
from waterline.model.message.process import die
from waterline.model.message.roles import drop_fetch
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
    contains,
)
from waterline.model.message.truncation import (
    cannot_place,
    carried_epoch,
    diverges,
    diverging_cut,
    finds_out_by_fetching,
    truncate_as_told,
)


def may_fetch(s: Any, c: Settings, follower: int) -> bool:
    """True if the follower fetches: it has cut its log, or fetches will show where to cut."""
    if s.role[follower] == TRUNCATING:
        return finds_out_by_fetching(c)
    return bool(s.role[follower] == FETCHING)


def can_send_fetch(s: Any, c: Settings, follower: int) -> bool:
    """The follower may fetch, has no request in flight, and knows a leader.

    A broker that is about to shut down has received a StopReplica; under KRaft it goes on.
    """
    if not may_fetch(s, c, follower) or s.fetch[follower] != IDLE:
        return False
    if tells_of_no_leader(c) and s.known_leader[follower] == follower:
        return False
    return has(c, KRAFT) or not contains(s.stopping, follower)


def send_fetch(s: Any, c: Settings, follower: int) -> None:
    """Ask the known leader for everything from the follower's LEO on."""
    s.fetch[follower] = REQUESTED


def can_leader_fetch(s: Any, c: Settings, follower: int) -> bool:
    """A fetch request is in flight."""
    return may_fetch(s, c, follower) and s.fetch[follower] == REQUESTED


def leader_fetch(s: Any, c: Settings, follower: int) -> None:
    """The addressee refuses the request, answers that the logs diverge or the offset is out of
    range, or notes the fetch offset and answers with records (ReplicaManager.fetchMessages).

    A broker that is down or does not lead answers with an error and the follower retries; so does,
    since KIP-320, a leader of another epoch. If the logs diverge, the leader says where, since
    fetches carry the follower's last epoch. An offset beyond the leader's LEO is out of range.
    Otherwise: remote LEO := fetch offset, the follower may join the ISR, the high watermark may
    advance, and the answer carries the records from that offset and a high watermark: the one after
    this fetch (as the articles say) or the one before (as the code reads it). With parked fetches,
    a request with nothing to answer waits in the purgatory.
    """
    leader = s.known_leader[follower]
    offset = s.leo[follower]
    last_epoch = carried_epoch(s, c, follower)
    if not takes_fetch(s, c, leader, follower, s.known_epoch[follower]):
        refuse(s, c, leader, follower)
        s.fetch[follower] = IDLE
    elif diverges(s, c, leader, offset, last_epoch):
        if not has(c, DIVERGING_GUARD):
            observe_fetch(s, c, leader, follower, offset, 0)
        answer_diverging(s, c, leader, follower, last_epoch)
    elif is_out_of_range(s, c, leader, offset, last_epoch):
        refuse(s, c, leader, follower)
        answer_out_of_range(s, leader, follower)
    else:
        before = s.hw[leader]
        observe_fetch(s, c, leader, follower, offset, 0)
        if c.parked_fetches == 1 and offset == s.leo[leader]:
            s.fetch[follower] = PARKED
        else:
            answer(
                s, leader, follower, before if c.high_watermark_before_fetch == 1 else s.hw[leader]
            )


def takes_fetch(s: Any, c: Settings, leader: int, follower: int, epoch: int) -> bool:
    """True if a broker handles a fetch that was sent in `epoch`, False if it refuses it.

    NOT_LEADER_FOR_PARTITION; where fetches are fenced also FENCED_LEADER_EPOCH and
    UNKNOWN_LEADER_EPOCH.
    """
    if s.role[leader] != LEADER or not knows_replica(s, c, leader, follower):
        return False
    return not fences_fetches(c) or s.known_epoch[leader] == epoch


def fences_fetches(c: Settings) -> bool:
    """True if a fetch carries the leader epoch that its sender knows.

    Since KIP-320; but until KAFKA-9338 a session, which all but the first fetches belong to, did
    not keep the epoch, and the leader had nothing to compare.
    """
    return has(c, FENCING) and has(c, SESSION_FENCING)


def refuse(s: Any, c: Settings, leader: int, follower: int) -> None:
    """After an error, up to 2.3, the leader does not know the follower's LEO.

    (Replica.updateLogReadResult with UnknownOffsetMetadata)
    """
    if not has(c, REFUSAL_TELLS_NOTHING) and s.role[leader] == LEADER:
        s.remote_leo[leader, follower] = UNKNOWN_OFFSET
    look_at_producers(s, c, leader)


def observe_fetch(s: Any, c: Settings, leader: int, follower: int, offset: int, stale: int) -> None:
    """The leader learns from a fetch that the follower has everything below the offset.

    Since KAFKA-8841 a fetch without news does not make the leader try its high watermark; an
    unknown LEO becoming known is news. (Partition.updateFollowerFetchState)
    """
    moves = s.remote_leo[leader, follower] != offset
    s.remote_leo[leader, follower] = offset
    note_catching_up(s, c, leader, follower, stale)
    expand_isr(s, c, leader, follower, offset, stale)
    if moves or not has(c, MOVED_FETCH_TRIES_HW):
        advance_high_watermark(s, c, leader)
    look_at_producers(s, c, leader)


def is_out_of_range(s: Any, c: Settings, leader: int, offset: int, last_epoch: int) -> bool:
    """The fetch begins beyond the leader's log, or ends in an epoch that it cannot place."""
    return offset > s.leo[leader] or cannot_place(s, c, leader, last_epoch)


def can_wake_parked(s: Any, c: Settings, follower: int) -> bool:
    """A parked fetch may be completed at any time: replica.fetch.wait.max.ms may be over."""
    return may_fetch(s, c, follower) and s.fetch[follower] == PARKED


def wake_parked(s: Any, c: Settings, follower: int) -> None:
    """Complete a parked fetch: the log is read again, with the high watermark of now.

    The same is looked at as when the fetch arrived, but nothing is learned from it once more
    (DelayedFetch.onComplete, ReplicaManager.readFromLog, Partition.readRecords).
    """
    leader = s.known_leader[follower]
    last_epoch = carried_epoch(s, c, follower)
    if not takes_fetch(s, c, leader, follower, s.known_epoch[follower]):
        s.fetch[follower] = IDLE
    elif diverges(s, c, leader, s.leo[follower], last_epoch):
        answer_diverging(s, c, leader, follower, last_epoch)
    elif is_out_of_range(s, c, leader, s.leo[follower], last_epoch):
        answer_out_of_range(s, leader, follower)
    else:
        answer(s, leader, follower, s.hw[leader])


def answer(s: Any, leader: int, follower: int, high_watermark: int) -> None:
    """Send what the leader has from the follower's LEO on, and a high watermark."""
    s.fetch[follower] = ANSWERED
    s.answer_offset[follower] = high_watermark
    first = s.leo[follower]
    for offset in range(first, s.leo[leader]):
        s.answer_log[follower, offset - first] = s.log[leader, offset]


def answer_out_of_range(s: Any, leader: int, follower: int) -> None:
    """OFFSET_OUT_OF_RANGE. The follower will ask for the leader's LEO; it is sent along here."""
    s.fetch[follower] = OUT_OF_RANGE
    s.answer_offset[follower] = s.leo[leader]


def answer_diverging(s: Any, c: Settings, leader: int, follower: int, last_epoch: int) -> None:
    """Send where the follower's last epoch ends here; kept is where it will cut its log."""
    cut, is_last = diverging_cut(s, c, leader, follower, last_epoch)
    s.fetch[follower] = DIVERGING
    s.answer_offset[follower] = cut
    if c.future_log == 1:
        s.cuts_finally[follower] = is_last


def can_read_late(s: Any, c: Settings, follower: int) -> bool:
    """An answer has records, and the leader's file has others in their place by now."""
    if not may_fetch(s, c, follower) or s.fetch[follower] != ANSWERED:
        return False
    leader = s.known_leader[follower]
    return s.up[leader] == 1 and has_replaced(s, leader, follower)


def has_replaced(s: Any, leader: int, follower: int) -> bool:
    """True if a record of the answer differs from the one that the leader's log has there."""
    first = s.leo[follower]
    for offset in range(first, s.leo[leader]):
        record = s.answer_log[follower, offset - first]
        if record != NO_RECORD and record != s.log[leader, offset]:
            return True
    return False


def read_late(s: Any, c: Settings, follower: int) -> None:
    """The records are sent from the file, which was truncated and written again meanwhile.

    An answer refers to its records by their place in the file until it is sent (FileRecords).
    """
    leader = s.known_leader[follower]
    first = s.leo[follower]
    for offset in range(first, s.records):
        if s.answer_log[follower, offset - first] != NO_RECORD:
            now = s.log[leader, offset] if offset < s.leo[leader] else NO_RECORD
            s.answer_log[follower, offset - first] = now


def can_receive_fetch(s: Any, c: Settings, follower: int) -> bool:
    """An answer with records, perhaps none, is in flight."""
    return may_fetch(s, c, follower) and s.fetch[follower] == ANSWERED


def receive_fetch(s: Any, c: Settings, follower: int) -> None:
    """The follower appends, then HW := min(own LEO, HW in the answer), which may also lower it.

    In Fluss HW := own LEO: the leader's high watermark is not read (#676). Where fetches find
    divergence, this answer shows that there is none. (ReplicaFetcherThread.processPartitionData)
    """
    high_watermark = s.answer_offset[follower]
    first = s.leo[follower]
    end = first + append_count(s, c, follower)
    for offset in range(first, end):
        s.log[follower, offset] = s.answer_log[follower, offset - first]
    if end > first:
        # The first record takes the place of an entry of the cache that began there without any.
        s.cached_epoch[follower] = NO_EPOCH
        s.fetched_epoch[follower] = NO_EPOCH
    s.leo[follower] = end
    s.hw[follower] = end if has(c, FOLLOWER_HW_AT_END) else min(end, high_watermark)
    s.role[follower] = FETCHING
    drop_fetch(s, follower)


def append_count(s: Any, c: Settings, follower: int) -> int:
    """The number of records of an answer that the follower appends."""
    for i in range(s.records):
        if s.answer_log[follower, i] == NO_RECORD or not appends(s, c, follower, i):
            return i
    records: int = s.records
    return records


def appends(s: Any, c: Settings, follower: int, i: int) -> bool:
    """True if the follower accepts record `i` of the answer, and so all before it.

    Since KAFKA-18723 it refuses an epoch above the one that it knows
    (UnifiedLog.hasHigherPartitionLeaderEpoch). No Kafka refuses one below its last one.
    """
    if not has(c, APPEND_CHECKS_EPOCH) and not has(c, APPEND_CHECKS_OLDER_EPOCH):
        return True
    least = latest_epoch(s, c, follower) if has(c, APPEND_CHECKS_OLDER_EPOCH) else NO_EPOCH
    for j in range(i + 1):
        epoch = s.record_epoch[s.answer_log[follower, j] - 1]
        if has(c, APPEND_CHECKS_EPOCH) and epoch > s.known_epoch[follower]:
            return False
        if has(c, APPEND_CHECKS_OLDER_EPOCH):
            if epoch < least:
                return False
            least = epoch
    return True


def can_receive_diverging(s: Any, c: Settings, follower: int) -> bool:
    """The follower's answer says that its log diverges from the leader's."""
    return may_fetch(s, c, follower) and s.fetch[follower] == DIVERGING


def receive_diverging(s: Any, c: Settings, follower: int) -> None:
    """The follower truncates, and fetches from there; what is left may part again.

    (AbstractFetcherThread.truncateOnFetchResponse)
    """
    truncate_as_told(s, c, follower, s.answer_offset[follower], s.cuts_finally[follower])
    drop_fetch(s, follower)


def can_receive_out_of_range(s: Any, c: Settings, follower: int) -> bool:
    """The leader's log is shorter than this follower's."""
    return may_fetch(s, c, follower) and s.fetch[follower] == OUT_OF_RANGE


def receive_out_of_range(s: Any, c: Settings, follower: int) -> None:
    """The follower truncates to the leader's LEO, if that is less; up to 2.0.0 it exits.

    Up to 2.0.0 it truncates only with unclean election on; otherwise the process exits.

    The exit ("log truncation is not allowed") takes a broker down like a crash, but it is not a
    fault of the environment and costs no budget (ReplicaFetcherThread.handleOffsetOutOfRange;
    removed by KAFKA-7414).
    """
    if c.unclean_leader_election == 1 or has(c, TRUNCATE_OUT_OF_RANGE):
        if s.answer_offset[follower] < s.leo[follower]:
            truncate_as_told(s, c, follower, s.answer_offset[follower], 1)
        drop_fetch(s, follower)
    else:
        die(s, c, follower)
