"""The numbers that a state of a window tells apart, and those that all replicas have settled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from waterline.model.message.order_abstraction import has_offset
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    UNKNOWN_OFFSET,
    contains,
)


def past_epochs(s: Any, first: int) -> tuple[int, ...]:
    """The epochs before `first` that occur in a state, in order."""
    found = {int(s.epoch)}
    for r in range(s.replicas):
        found.add(int(s.known_epoch[r]))
        if follows(s, r):
            found.add(int(s.cached_epoch[r]))
    if s.stray_from != NO_REPLICA:
        found |= {int(s.stray_epoch), int(s.stray_last_epoch)}
    found |= {int(s.record_epoch[record - 1]) for record in records_in(s)}
    return tuple(sorted(e for e in found if e != NO_EPOCH and e < first))


def records_in(s: Any) -> set[int]:
    """The records that are in a log or in an answer."""
    return {record for _, run in sequences_of(s) for record in run}


def sequences_of(s: Any) -> Iterator[tuple[int, list[int]]]:
    """Yield logs and answers in flight: the first offset of each, and its records."""
    for r in range(s.replicas):
        log_end = int(s.leo[r])
        yield 0, [int(s.log[r, o]) for o in range(log_end)]
        if follows(s, r):
            answer = [int(s.answer_log[r, i]) for i in range(s.records)]
            yield log_end, [record for record in answer if record != NO_RECORD]


def offsets_in(s: Any) -> set[int]:
    """Every offset that a state has anywhere: log ends, high watermarks, fetches."""
    found = {int(s.exposed_end)}
    for r in range(s.replicas):
        found |= {int(s.leo[r]), int(s.checkpoint[r])}
        if s.up[r] == 1:
            found.add(int(s.hw[r]))
        if s.role[r] == LEADER:
            found |= {int(s.remote_leo[r, other]) for other in range(s.replicas)}
        if follows(s, r) and has_offset(s, r):
            found.add(int(s.answer_offset[r]))
    found |= {begin + len(run) for begin, run in sequences_of(s)}
    if s.stray_from != NO_REPLICA:
        found.add(int(s.stray_offset))
    return found - {UNKNOWN_OFFSET}


def needed_boundaries(s: Any) -> set[int]:
    """Return the offsets above 0 where a state distinguishes the records before and after."""
    needed = offsets_in(s)
    behind: dict[int, set[int]] = {}
    ahead: dict[int, set[int]] = {}
    runs = [*sequences_of(s), (0, [int(s.exposed[o]) for o in range(s.exposed_end)])]
    for begin, run in runs:
        for at, (one, other) in enumerate(itertools.pairwise(run), begin + 1):
            behind.setdefault(one, set()).add(other)
            ahead.setdefault(other, set()).add(one)
            if _differ(s, one, other):
                needed.add(at)
    for begin, run in runs:
        for at, (one, other) in enumerate(itertools.pairwise(run), begin + 1):
            if len(behind[one]) > 1 or len(ahead[other]) > 1:
                needed.add(at)
    return needed - {0}


def _differ(s: Any, one: int, other: int) -> bool:
    if NO_RECORD in (one, other) or s.record_epoch[one - 1] != s.record_epoch[other - 1]:
        return True
    if contains(s.acked, one - 1) != contains(s.acked, other - 1):
        return True
    return any(
        s.role[r] == LEADER
        and contains(s.unanswered[r], one - 1) != contains(s.unanswered[r], other - 1)
        for r in range(s.replicas)
    )


def settled_end(s: Any) -> int:
    """Return how many first records can be cut off: one less than all replicas have for good.

    The conditions are those of `model.message.order_abstraction.has_settled`: the last settled
    record stays.
    """
    ends = offsets_in(s)
    settled = 0
    while settled < min(ends) and _has_settled(s, settled):
        settled += 1
    return max(0, settled - 1)


def _has_settled(s: Any, offset: int) -> bool:
    """True if the record at an offset is everywhere, and no rule looks below it."""
    record = int(s.log[0, offset])
    if s.exposed[offset] != record or any(s.log[r, offset] != record for r in range(s.replicas)):
        return False
    oldest = s.record_epoch[record - 1]
    if s.stray_from != NO_REPLICA and NO_EPOCH != s.stray_last_epoch < oldest:
        return False
    for r in range(s.replicas):
        if s.role[r] == LEADER:
            if s.known_epoch[r] < oldest or contains(s.unanswered[r], record - 1):
                return False
        elif follows(s, r) and NO_EPOCH != s.cached_epoch[r] < oldest:
            return False
    return True


def has_base(s: Any) -> bool:
    """True if nothing has fallen below the last settled record, where one was cut before."""
    first = s.log[0, 0]
    return first != NO_RECORD and all(
        s.log[r, 0] == first and s.checkpoint[r] >= 1 and (s.up[r] == 0 or s.hw[r] >= 1)
        for r in range(s.replicas)
    )
