"""Replication by fetching: the request, the leader's handling, the answer.

A follower's fetch offset is its LEO, and it is also its acknowledgement of everything below: that
is why its high watermark lags the leader's by a round trip.
"""

from __future__ import annotations

from typing import Any

from model.high_watermark import advance_high_watermark
from model.isr import expand_isr
from model.process import stop
from model.roles import drop_fetch, forget_lost_records, truncate
from model.settings import Settings
from model.terms import ANSWERED, FETCHING, IDLE, LEADER, NO_RECORD, OUT_OF_RANGE, PARKED, REQUESTED


def can_send_fetch(s: Any, c: Settings, follower: int) -> bool:
    """A follower that is done truncating and has no request in flight."""
    return s.role[follower] == FETCHING and s.fetch[follower] == IDLE


def send_fetch(s: Any, c: Settings, follower: int) -> None:
    """Ask the known leader for everything from the follower's LEO on."""
    s.fetch[follower] = REQUESTED


def can_leader_fetch(s: Any, c: Settings, follower: int) -> bool:
    """A fetch request is in flight."""
    return s.role[follower] == FETCHING and s.fetch[follower] == REQUESTED


def leader_fetch(s: Any, c: Settings, follower: int) -> None:
    """The addressee handles the request (ReplicaManager.fetchMessages).

    Whoever is down or no leader answers with an error and the follower will ask again. An offset
    beyond the leader's LEO is out of range. Otherwise: remote LEO := fetch offset, the follower may
    join the ISR, the high watermark may advance, and the answer carries the records from that
    offset and a high watermark: the one after this fetch (as the articles say) or the one before
    (as the code reads it). With parked fetches, a request with nothing to answer waits in the
    purgatory.
    """
    leader = s.known_leader[follower]
    offset = s.leo[follower]
    if s.role[leader] == LEADER and offset <= s.leo[leader]:
        before = s.hw[leader]
        s.remote_leo[leader, follower] = offset
        expand_isr(s, leader, follower)
        advance_high_watermark(s, c, leader)
        if c.parked_fetches == 1 and offset == s.leo[leader]:
            s.fetch[follower] = PARKED
        else:
            answer(
                s, leader, follower, before if c.high_watermark_before_fetch == 1 else s.hw[leader]
            )
    else:
        refuse(s, leader, follower)


def can_wake_parked(s: Any, c: Settings, follower: int) -> bool:
    """A parked fetch may be completed at any time: replica.fetch.wait.max.ms may be over."""
    return s.role[follower] == FETCHING and s.fetch[follower] == PARKED


def wake_parked(s: Any, c: Settings, follower: int) -> None:
    """Complete a parked fetch: the log is read again, with the high watermark of now."""
    leader = s.known_leader[follower]
    if s.role[leader] == LEADER and s.leo[follower] <= s.leo[leader]:
        answer(s, leader, follower, s.hw[leader])
    else:
        refuse(s, leader, follower)


def answer(s: Any, leader: int, follower: int, high_watermark: int) -> None:
    """Send what the leader has from the follower's LEO on, and a high watermark."""
    s.fetch[follower] = ANSWERED
    s.answer_offset[follower] = high_watermark
    first = s.leo[follower]
    for offset in range(first, s.leo[leader]):
        s.answer_log[follower, offset - first] = s.log[leader, offset]


def refuse(s: Any, leader: int, follower: int) -> None:
    """NOT_LEADER_FOR_PARTITION or no connection: nothing in flight. Or OFFSET_OUT_OF_RANGE."""
    if s.role[leader] == LEADER:
        s.fetch[follower] = OUT_OF_RANGE
        s.answer_offset[follower] = s.leo[leader]
    else:
        s.fetch[follower] = IDLE


def can_receive_fetch(s: Any, c: Settings, follower: int) -> bool:
    """An answer with records, perhaps none, is in flight."""
    return s.role[follower] == FETCHING and s.fetch[follower] == ANSWERED


def receive_fetch(s: Any, c: Settings, follower: int) -> None:
    """Append, LEO, then HW := min(own LEO, HW in the answer), which may also lower it.

    (ReplicaFetcherThread.processPartitionData)
    """
    high_watermark = s.answer_offset[follower]
    end = s.leo[follower]
    for i in range(s.records):
        if s.answer_log[follower, i] != NO_RECORD:
            s.log[follower, end] = s.answer_log[follower, i]
            end += 1
    s.leo[follower] = end
    s.hw[follower] = min(end, high_watermark)
    drop_fetch(s, follower)


def can_receive_out_of_range(s: Any, c: Settings, follower: int) -> bool:
    """The leader's log is shorter than this follower's."""
    return s.role[follower] == FETCHING and s.fetch[follower] == OUT_OF_RANGE


def receive_out_of_range(s: Any, c: Settings, follower: int) -> None:
    """Where unclean election is on, truncate to the leader's LEO; otherwise the process exits.

    The exit ("log truncation is not allowed") is a broker down like a crash, but it is no fault of
    the environment and costs no budget (ReplicaFetcherThread.handleOffsetOutOfRange).
    """
    if c.unclean_leader_election == 1:
        truncate(s, follower, s.answer_offset[follower])
        drop_fetch(s, follower)
        forget_lost_records(s)
    else:
        stop(s, follower)
