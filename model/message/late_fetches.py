"""Late fetches: one that arrives after its sender has gone on, and one that a leader notes late.

A fetch that has outlived its sender, or its sender's change of leader, reaches its receiver. Before
KIP-320 the receiver cannot distinguish it from a current fetch. Its answer is lost.

A leader takes note of a fetch later than it checked it: two critical sections.
Partition.fetchRecords checks the leader epoch, finds the follower's Replica object and reads the
log under one lock; updateFollowerFetchState then notes the offset under another, and compares no
leader epoch again. What happens in between may end the epoch. Since 3.3 the object is that of the
check; until 3.2 it is found anew by the follower's id. To compare the epoch again would be the
repair (docs/losses.md). One fetch at a time is late here.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import knows_replica
from waterline.model.message.features import BROKER_EPOCH, DIVERGING_GUARD, STALE_FETCH_CHECK, has
from waterline.model.message.fetch import (
    can_leader_fetch,
    is_out_of_range,
    observe_fetch,
    takes_fetch,
)
from waterline.model.message.isr import expand_isr
from waterline.model.message.roles import drop_booking, drop_stray, follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ANSWERED,
    BOOK_BY_REPLICA,
    CHECKED,
    LEADER,
    NO_RECORD,
    NO_REPLICA,
    PARKED,
    UNKNOWN_OFFSET,
    contains,
)
from waterline.model.message.truncation import carried_epoch, diverges


def can_stray_fetch(s: Any, c: Settings, follower: int) -> bool:
    """An old fetch of this broker is in flight, and its receiver would not refuse it."""
    if s.stray_from != follower or not takes_fetch(s, c, s.stray_to, follower, s.stray_epoch):
        return False
    if (
        has(c, STALE_FETCH_CHECK)
        and s.stray_stale == 1
        and knows_registration(s, s.stray_to, follower)
    ):
        return False
    offset, last_epoch = s.stray_offset, s.stray_last_epoch
    if diverges(s, c, s.stray_to, offset, last_epoch):
        return not has(c, DIVERGING_GUARD)
    return not is_out_of_range(s, c, s.stray_to, offset, last_epoch)


def knows_registration(s: Any, leader: int, follower: int) -> bool:
    """True if a fetch's receiver must have heard that the sender has registered anew since.

    A leader refuses a fetch with a broker epoch older than the one in its metadata
    (Replica.updateFetchStateOrThrow). Metadata may lag, but not behind what the leader itself used
    when it proposed the follower for the ISR.
    """
    proposed = contains(s.known_isr[leader] | s.pending_isr[leader], follower)
    return proposed and s.outdated[leader] == 0


def stray_fetch(s: Any, c: Settings, follower: int) -> None:
    """The receiver takes the old fetch for what the follower has: remote LEO, ISR, HW."""
    observe_fetch(s, c, s.stray_to, follower, s.stray_offset, s.stray_stale)
    drop_stray(s)


def can_lose_stray(s: Any, c: Settings) -> bool:
    """An old fetch is in flight."""
    return s.stray_from != NO_REPLICA


def lose_stray(s: Any, c: Settings) -> None:
    """The old fetch never arrives, or is refused."""
    drop_stray(s)


def can_check_fetch(s: Any, c: Settings, follower: int) -> bool:
    """A fetch request is in flight that its addressee neither refuses nor finds diverging."""
    if not can_leader_fetch(s, c, follower) or s.booking_from != NO_REPLICA:
        return False
    leader, offset = s.known_leader[follower], s.leo[follower]
    if not takes_fetch(s, c, leader, follower, s.known_epoch[follower]):
        return False
    last_epoch = carried_epoch(s, c, follower)
    if diverges(s, c, leader, offset, last_epoch):
        return False
    return not is_out_of_range(s, c, leader, offset, last_epoch)


def check_fetch(s: Any, c: Settings, follower: int) -> None:
    """The leader checks the fetch and reads its log and high watermark; it notes nothing yet."""
    leader, first = s.known_leader[follower], s.leo[follower]
    s.booking_from = follower
    s.booking_to = leader
    s.booking_offset = first
    s.fetch[follower] = CHECKED
    s.answer_offset[follower] = s.hw[leader]
    for offset in range(first, s.leo[leader]):
        s.answer_log[follower, offset - first] = s.log[leader, offset]


def can_book_fetch(s: Any, c: Settings, follower: int) -> bool:
    """A fetch of this broker was checked and is not noted."""
    return bool(s.booking_from == follower)


def book_fetch(s: Any, c: Settings, follower: int) -> None:
    """The leader notes the offset, in whatever epoch it leads by now, and then answers.

    A broker that has stopped leading has no Replica objects, and notes nothing. Nor does a leader
    note anything about a removed replica.
    """
    if can_note(s, c, follower):
        if s.booking_void == 0:
            observe_fetch(s, c, s.booking_to, follower, s.booking_offset, s.booking_stale)
        elif c.late_booking == BOOK_BY_REPLICA:
            note_in_old_replica(s, c, follower)
    leader = s.booking_to
    drop_booking(s)
    if follows(s, follower) and s.fetch[follower] == CHECKED:
        answer_checked(s, c, leader, follower)


def can_note(s: Any, c: Settings, follower: int) -> bool:
    """True if the broker still leads, has the follower for a replica, and does not refuse it."""
    if s.role[s.booking_to] != LEADER or not knows_replica(s, c, s.booking_to, follower):
        return False
    return not is_stale(s, c, follower)


def is_stale(s: Any, c: Settings, follower: int) -> bool:
    """True if the leader must know that the sender has registered since: then it notes nothing.

    (Replica.updateFetchStateOrThrow compares the broker epoch as it notes the offset)
    """
    if not has(c, STALE_FETCH_CHECK) or s.booking_stale == 0:
        return False
    return knows_registration(s, s.booking_to, follower)


def note_in_old_replica(s: Any, c: Settings, follower: int) -> None:
    """The offset goes to an object that has been replaced: no high watermark is made of it.

    Partition.maybeExpandIsr is given this object all the same, and may propose the follower by its
    offset. Since KIP-903 the object of now must have had a fetch: its broker epoch is the one that
    is compared, and sent (Partition.isReplicaIsrEligible, addBrokerEpochToIsr).
    """
    leader = s.booking_to
    if has(c, BROKER_EPOCH) and s.remote_leo[leader, follower] == UNKNOWN_OFFSET:
        return
    expand_isr(s, c, leader, follower, s.booking_offset, 0)


def answer_checked(s: Any, c: Settings, leader: int, follower: int) -> None:
    """The answer that was read goes out, or waits in the purgatory if there is nothing in it."""
    if c.parked_fetches == 1 and s.answer_log[follower, 0] == NO_RECORD:
        s.fetch[follower] = PARKED
        s.answer_offset[follower] = 0
        return
    s.fetch[follower] = ANSWERED
    if c.high_watermark_before_fetch == 0:
        s.answer_offset[follower] = s.hw[leader]
