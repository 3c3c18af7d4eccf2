"""Order abstraction of leader epochs and records: normal form of a state without their bounds.

Rules compare epochs (<, ==, max) and make a new one above all others; they compare records for
equality, and copy them. So the order of the epochs in a state, and the equality of its records,
determine it: epochs become 0, 1, ... in order, records are named by epoch and offset, and a record
that is in no log and in no answer is forgotten, except for whether it was acknowledged. A record
that all replicas have for good is cut off below all logs. Only faults that destroy data on a disk
are counted. docs/unbounded.md has the argument for each part, and what would break it.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import sees_gaps
from waterline.model.message.features import KEEPS_WAITING_PRODUCERS, has
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ANSWERED,
    BOOK_AT_ONCE,
    CHECKED,
    DIVERGING,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    OUT_OF_RANGE,
    UNKNOWN_OFFSET,
    contains,
    size,
    with_member,
    without_member,
)

_NAME_BITS = 4
_PLACE_BITS = 7
_EPOCH_BITS = 5


def abstract(s: Any, c: Settings) -> None:
    """Put a state into normal form: states that rules and claims cannot tell apart become equal."""
    forget_faults(s)
    if c.power_losses == 0:
        for replica in range(s.replicas):
            s.durable[replica] = 0
    rename_records(s, c)
    if c.settled == 1:
        for _ in range(s.records):
            if has_settled(s, c):
                cut_first(s, c)
                rename_records(s, c)
    rename_epochs(s, c)


def forget_faults(s: Any) -> None:
    """Count no fault but those that take away what a machine has on disk."""
    s.restarts_used = 0
    s.moves_used = 0
    s.directory_moves_used = 0
    s.failed_directories_used = 0
    s.min_isr_writes_used = 0
    s.reassignments_used = 0
    s.session_expiries_used = 0
    s.shutdowns_used = 0


# --- records -------------------------------------------------------------------------------------


def name_of(names: int, record: int) -> int:
    """The new name of a record, 0 for one that is nowhere."""
    return (names >> (_NAME_BITS * record)) & ((1 << _NAME_BITS) - 1)


def place_of(s: Any, record: int, offset: int) -> int:
    """Epoch, then offset: an order of records that no renaming of replicas changes."""
    return s.record_epoch[record - 1] * s.records + offset


def new_names(s: Any) -> int:
    """The new name by old name, packed: records in the order of epoch and offset.

    Two records of the same epoch and offset, which only a broken version has, are in the order of
    their first place: by offset, then by replica.
    """
    seen = 0
    places = 0
    records = 0
    found = 0
    for offset in range(s.records):
        for replica in range(s.replicas):
            record = s.log[replica, offset]
            if record != NO_RECORD and not contains(seen, record):
                seen = with_member(seen, record)
                places |= place_of(s, record, offset) << (_PLACE_BITS * found)
                records |= record << (_NAME_BITS * found)
                found += 1
    for i in range(s.records):
        for replica in range(s.replicas):
            if follows(s, replica):
                record = s.answer_log[replica, i]
                if record != NO_RECORD and not contains(seen, record):
                    seen = with_member(seen, record)
                    offset = s.leo[replica] + i
                    places |= place_of(s, record, offset) << (_PLACE_BITS * found)
                    records |= record << (_NAME_BITS * found)
                    found += 1
    names = 0
    for one in range(s.ids):
        if one < found:
            place = (places >> (_PLACE_BITS * one)) & ((1 << _PLACE_BITS) - 1)
            name = 1
            for other in range(s.ids):
                if other < found:
                    against = (places >> (_PLACE_BITS * other)) & ((1 << _PLACE_BITS) - 1)
                    if against < place or (against == place and other < one):
                        name += 1
            names |= name << (_NAME_BITS * name_of(records, one))
    return names


def renamed_set(s: Any, names: int, members: int) -> int:
    """A set of records with new names, less those that are nowhere."""
    renamed = 0
    for record in range(s.ids):
        if contains(members, record):
            name = name_of(names, record + 1)
            if name != 0:
                renamed = with_member(renamed, name - 1)
    return renamed


def has_lost(s: Any, names: int, members: int) -> bool:
    """True if one of a set of records is nowhere any more; bit `ids` records that for good."""
    if contains(members, s.ids):
        return True
    for record in range(s.ids):
        if contains(members, record) and name_of(names, record + 1) == 0:
            return True
    return False


def renamed_with_lost(s: Any, names: int, members: int) -> int:
    """A set of records with new names; all that are nowhere are bit `ids` of it."""
    renamed = renamed_set(s, names, members)
    return with_member(renamed, s.ids) if has_lost(s, names, members) else renamed


def rename_records(s: Any, c: Settings) -> None:
    """Name the records that are in some log or answer 1, 2, ...; forget all others."""
    names = new_names(s)
    epochs = 0
    found = 0
    for record in range(s.ids):
        name = name_of(names, record + 1)
        if name != 0:
            epochs |= s.record_epoch[record] << (_EPOCH_BITS * name)
            found += 1
    for record in range(s.ids):
        s.record_epoch[record] = (epochs >> (_EPOCH_BITS * (record + 1))) & ((1 << _EPOCH_BITS) - 1)
    s.produced = found
    s.acked = renamed_with_lost(s, names, s.acked)
    for offset in range(s.records):
        s.exposed[offset] = name_of(names, s.exposed[offset])
    s.last_consumed = name_of(names, s.last_consumed)
    for replica in range(s.replicas):
        if s.role[replica] == LEADER:
            s.unanswered[replica] = renamed_set(s, names, s.unanswered[replica])
        for offset in range(s.records):
            s.log[replica, offset] = name_of(names, s.log[replica, offset])
            if has(c, KEEPS_WAITING_PRODUCERS):
                waiting = s.still_waiting[replica, offset]
                s.still_waiting[replica, offset] = renamed_with_lost(s, names, waiting)
        if follows(s, replica):
            for i in range(s.records):
                s.answer_log[replica, i] = name_of(names, s.answer_log[replica, i])


# --- epochs --------------------------------------------------------------------------------------


def epochs_in(s: Any) -> int:
    """The leader epochs that occur anywhere, one bit each."""
    found = with_member(0, s.epoch)
    for replica in range(s.replicas):
        if s.known_epoch[replica] != NO_EPOCH:
            found = with_member(found, s.known_epoch[replica])
        if follows(s, replica) and s.cached_epoch[replica] != NO_EPOCH:
            found = with_member(found, s.cached_epoch[replica])
    if s.stray_from != NO_REPLICA:
        found = with_member(found, s.stray_epoch)
        if s.stray_last_epoch != NO_EPOCH:
            found = with_member(found, s.stray_last_epoch)
    for record in range(s.ids):
        if record < s.produced:
            found = with_member(found, s.record_epoch[record])
    return found


def rank(s: Any, found: int, gap: int, epoch: int) -> int:
    """The number of epochs in use that are smaller; above a gap one more."""
    smaller = size(found & ((1 << epoch) - 1))
    return smaller + gap if epoch == s.epoch else smaller


def gap_below(s: Any, c: Settings, found: int) -> int:
    """1 where a rule can see that the controller's epoch is not the next after all others.

    Such a rule compares the newest epoch with the one that a broker knows: `truncate-after-gap`,
    `fresh-remote-leo-after-gap`.
    """
    if sees_gaps(c):
        if size(found) > 1 and s.epoch > 0 and not contains(found, s.epoch - 1):
            return 1
    return 0


def rename_epochs(s: Any, c: Settings) -> None:
    """Number the epochs that occur from 0 on, in order."""
    found = epochs_in(s)
    gap = gap_below(s, c, found)
    for replica in range(s.replicas):
        if s.known_epoch[replica] != NO_EPOCH:
            s.known_epoch[replica] = rank(s, found, gap, s.known_epoch[replica])
        if follows(s, replica) and s.cached_epoch[replica] != NO_EPOCH:
            s.cached_epoch[replica] = rank(s, found, gap, s.cached_epoch[replica])
    if s.stray_from != NO_REPLICA:
        s.stray_epoch = rank(s, found, gap, s.stray_epoch)
        if s.stray_last_epoch != NO_EPOCH:
            s.stray_last_epoch = rank(s, found, gap, s.stray_last_epoch)
    for record in range(s.ids):
        if record < s.produced:
            s.record_epoch[record] = rank(s, found, gap, s.record_epoch[record])
    s.epoch = rank(s, found, gap, s.epoch)


# --- the settled prefix --------------------------------------------------------------------------


def has_settled(s: Any, c: Settings) -> bool:
    """True if no rule can tell any more that there is a first record below the second.

    All replicas have both, no high watermark, checkpoint or offset in flight is below the end of
    the second, the anchor, and no epoch in use is older than the anchor's. The anchor stays,
    because an empty log differs from a short one: its last epoch is undefined.
    """
    if s.records < 2 or s.exposed_end < 2:
        return False
    if s.exposed[0] != 1 or s.exposed[1] != 2 or (c.consumer == 1 and s.consumed < 2):
        return False
    oldest = s.record_epoch[1]
    if not fetches_look_above(s, c, oldest):
        return False
    for replica in range(s.replicas):
        if not has_both(s, c, replica) or not looks_above(s, replica, oldest):
            return False
        if has(c, KEEPS_WAITING_PRODUCERS):
            if s.still_waiting[replica, 0] != 0 or s.still_waiting[replica, 1] != 0:
                return False
    return True


def fetches_look_above(s: Any, c: Settings, oldest: int) -> bool:
    """True if fetches that have outlived their sender's interest are at or above the second record.

    A fetch that is booked late carries no epoch any more.
    """
    if s.stray_from != NO_REPLICA:
        if s.stray_offset < 2 or (s.stray_last_epoch != NO_EPOCH and s.stray_last_epoch < oldest):
            return False
    return c.late_booking == BOOK_AT_ONCE or s.booking_from == NO_REPLICA or s.booking_offset >= 2


def has_both(s: Any, c: Settings, replica: int) -> bool:
    """True if a replica has the first two records, and knows them to be committed."""
    if s.log[replica, 0] != 1 or s.log[replica, 1] != 2:
        return False
    if s.checkpoint[replica] < 2 or (s.up[replica] == 1 and s.hw[replica] < 2):
        return False
    return c.power_losses == 0 or s.durable[replica] >= 2


def looks_above(s: Any, replica: int, oldest: int) -> bool:
    """True if all that a replica remembers by its role is at or above the second record."""
    if s.role[replica] == LEADER:
        if s.known_epoch[replica] < oldest or s.unanswered[replica] & 3 != 0:
            return False
        for other in range(s.replicas):
            if s.remote_leo[replica, other] != UNKNOWN_OFFSET and s.remote_leo[replica, other] < 2:
                return False
    if follows(s, replica):
        if s.cached_epoch[replica] != NO_EPOCH and s.cached_epoch[replica] < oldest:
            return False
        if has_offset(s, replica) and s.answer_offset[replica] < 2:
            return False
    return True


def has_offset(s: Any, replica: int) -> bool:
    """True if an answer with an offset is in flight to a follower."""
    return s.fetch[replica] in (ANSWERED, OUT_OF_RANGE, DIVERGING, CHECKED)


def cut_first(s: Any, c: Settings) -> None:
    """Take the first record from everywhere: every offset is one less."""
    s.base = 1
    s.acked = without_member(s.acked, 0)
    s.exposed_end = s.exposed_end - 1
    for offset in range(s.records):
        s.exposed[offset] = s.exposed[offset + 1] if offset + 1 < s.records else NO_RECORD
    cut_from_fetches(s, c)
    if s.consumed > 0:
        s.consumed = s.consumed - 1
    for replica in range(s.replicas):
        s.leo[replica] = s.leo[replica] - 1
        s.checkpoint[replica] = s.checkpoint[replica] - 1
        if s.durable[replica] > 0:
            s.durable[replica] = s.durable[replica] - 1
        if s.up[replica] == 1:
            s.hw[replica] = s.hw[replica] - 1
        for offset in range(s.records):
            above = s.log[replica, offset + 1] if offset + 1 < s.records else NO_RECORD
            s.log[replica, offset] = above
            if has(c, KEEPS_WAITING_PRODUCERS):
                after = s.still_waiting[replica, offset + 1] if offset + 1 < s.records else 0
                s.still_waiting[replica, offset] = after
        if s.role[replica] == LEADER:
            for other in range(s.replicas):
                if s.remote_leo[replica, other] != UNKNOWN_OFFSET:
                    s.remote_leo[replica, other] = s.remote_leo[replica, other] - 1
        if follows(s, replica) and has_offset(s, replica):
            s.answer_offset[replica] = s.answer_offset[replica] - 1


def cut_from_fetches(s: Any, c: Settings) -> None:
    """Cut the record from fetches that have outlived their sender's interest."""
    if s.stray_from != NO_REPLICA:
        s.stray_offset = s.stray_offset - 1
    if c.late_booking != BOOK_AT_ONCE and s.booking_from != NO_REPLICA:
        s.booking_offset = s.booking_offset - 1
