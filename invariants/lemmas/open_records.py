"""Lemmas about open records: those that a leader may still expose, though others have left it.

A leader that another has replaced exposes what all that it counts were known to have before they
left its epoch. All later leaders have that, and all that these count. With more than two replicas
what it knows of those that left may be true no more: they may have cut what is not open.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.lemmas.whole_logs import (
    has_record,
    is_candidate,
    is_proposed,
    may_advance,
)
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    DIVERGING,
    FETCHING,
    LEADER,
    NO_ROLE,
    OUT_OF_RANGE,
    contains,
)


def is_not_beyond(s: Any, a: int, x: int) -> bool:
    """True if a broker is in no later epoch than the leader."""
    return bool(s.role[x] != NO_ROLE and s.known_epoch[x] <= s.known_epoch[a])


def has_left(s: Any, a: int, x: int) -> bool:
    """True if a broker is not in the leader's epoch and never will be: a later one has begun."""
    return bool(s.known_epoch[a] < s.epoch and s.known_epoch[x] != s.known_epoch[a])


def counts_one_that_left(s: Any, c: Any, a: int) -> bool:
    """True if a leader counts a broker that has left its epoch."""
    for x in range(s.replicas):
        if contains(counted_isr(s, c, a), x) and has_left(s, a, x):
            return True
    return False


def may_expose(s: Any, c: Any, a: int, offset: int) -> bool:
    """True if no broker that a leader counts has left its epoch before it fetched this record."""
    if not may_advance(s, c, a):
        return False
    for x in range(s.replicas):
        if contains(counted_isr(s, c, a), x) and has_left(s, a, x) and s.remote_leo[a, x] <= offset:
            return False
    return True


def isr_is_counted(s: Any, c: Any) -> bool:
    """A leader that may expose counts all candidates, less those that may have left its epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER and may_advance(s, c, a):
            for x in range(s.replicas):
                if is_candidate(s, x) and not contains(counted_isr(s, c, a), x):
                    if s.known_epoch[a] == s.epoch or is_not_beyond(s, a, x):
                        return False
    return True


def later_members_are_counted(s: Any, c: Any) -> bool:
    """A leader counts all that a later one counts, less those that have left its epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER and may_advance(s, c, a):
            for b in range(s.replicas):
                if s.role[b] == LEADER and s.known_epoch[b] > s.known_epoch[a]:
                    for x in range(s.replicas):
                        if contains(counted_isr(s, c, b), x) and is_not_beyond(s, a, x):
                            if not contains(counted_isr(s, c, a), x):
                                return False
    return True


def deposed_by_a_counted(s: Any, c: Any) -> bool:
    """A leader counts one that has left its epoch if a later leader has led."""
    for a in range(s.replicas):
        if s.role[a] == LEADER and may_advance(s, c, a) and not counts_one_that_left(s, c, a):
            for x in range(s.replicas):
                if is_candidate(s, x) and has_left(s, a, x):
                    return False
                if s.known_epoch[x] > s.known_epoch[a]:
                    if s.role[x] == LEADER or s.role[x] == FETCHING:
                        return False
                    if follows(s, x) and s.fetch[x] > 1:
                        return False
    return True


def later_leaders_have_open(s: Any, c: Any) -> bool:
    """A later leader has each record that a leader may still expose."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for b in range(s.replicas):
                if s.role[b] == LEADER and s.known_epoch[b] > s.known_epoch[a]:
                    for o in range(s.leo[a]):
                        if may_expose(s, c, a, o) and not has_record(s, b, a, o):
                            return False
    return True


def candidates_have_open(s: Any, c: Any) -> bool:
    """Candidates that have left a leader's epoch have what it may still expose."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if is_candidate(s, x) and has_left(s, a, x):
                    for o in range(s.leo[a]):
                        if may_expose(s, c, a, o) and not has_record(s, x, a, o):
                            return False
    return True


def proposed_have_open(s: Any, c: Any) -> bool:
    """A broker that a later leader asks to add and that has left has what a leader may expose."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for b in range(s.replicas):
                if s.role[b] == LEADER and s.known_epoch[b] > s.known_epoch[a]:
                    for x in range(s.replicas):
                        if is_proposed(s, b, x) and has_left(s, a, x):
                            for o in range(s.leo[a]):
                                if may_expose(s, c, a, o) and not has_record(s, x, a, o):
                                    return False
    return True


def cuts_keep_open(s: Any, c: Any) -> bool:
    """A follower in a later epoch is about to cut nothing that a leader may still expose."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if follows(s, f) and s.known_epoch[f] > s.known_epoch[a]:
                    if s.fetch[f] == DIVERGING or s.fetch[f] == OUT_OF_RANGE:
                        for o in range(s.answer_offset[f], s.leo[a]):
                            if may_expose(s, c, a, o) and has_record(s, f, a, o):
                                return False
    return True
