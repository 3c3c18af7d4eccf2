"""Words of lemmas: whole logs, which are logs with the answers on their way, and who fetches."""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import leader_min_isr
from waterline.model.message.features import HW_NEEDS_MIN_ISR, has
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    ANSWERED,
    CLEAN,
    FETCHING,
    LEADER,
    NO_REPLICA,
    NO_ROLE,
    contains,
    size,
)


def whole_end(s: Any, r: int) -> int:
    """The end of a whole log."""
    end: int = s.leo[r]
    if follows(s, r) and s.fetch[r] == ANSWERED:
        end += s.answer_size[r]
    return end


def whole_at(s: Any, r: int, offset: int) -> int:
    """The record of a whole log at an offset."""
    end: int = s.leo[r]
    record: int = s.log[r, offset] if offset < end else s.answer_log[r, offset - end]
    return record


def whole_epoch(s: Any, r: int, offset: int) -> int:
    """The epoch of the record of a whole log at an offset."""
    epoch: int = s.record_epoch[whole_at(s, r, offset) - 1]
    return epoch


def has_exposed(s: Any, r: int, offset: int) -> bool:
    """True if its log has the record that was exposed there."""
    return offset < s.leo[r] and s.log[r, offset] == s.exposed[offset]


def has_fetched(s: Any, a: int, f: int) -> bool:
    """True if the broker has fetched in the leader's epoch, and been in no other since."""
    if s.role[f] == NO_ROLE:
        return s.known_epoch[a] == s.epoch and s.remote_leo[a, f] >= 0
    if not follows(s, f) or s.known_epoch[f] != s.known_epoch[a]:
        return False
    return s.role[f] == FETCHING or s.fetch[f] == ANSWERED or s.remote_leo[a, f] >= 0


def has_record(s: Any, r: int, a: int, offset: int) -> bool:
    """True if its log has the record of a leader's log at an offset."""
    return offset < s.leo[r] and s.log[r, offset] == s.log[a, offset]


def is_of_leader(s: Any, f: int) -> bool:
    """True if the broker that a follower goes by leads in its epoch."""
    a: int = s.known_leader[f]
    return follows(s, f) and bool(s.role[a] == LEADER and s.known_epoch[a] == s.known_epoch[f])


def is_prefix(s: Any, r: int, a: int) -> bool:
    """True if a log is a prefix of a leader's."""
    for offset in range(s.leo[r]):
        if not has_record(s, a, r, offset):
            return False
    return True


def has_others_from(s: Any, r: int, a: int, cut: int) -> bool:
    """True if a log has no record from an offset on that a leader's has there."""
    for offset in range(cut, s.leo[r]):
        if has_record(s, a, r, offset):
            return False
    return True


def newest_leads(s: Any) -> bool:
    """True if the controller's leader leads in its epoch, or is down."""
    if s.leader == NO_REPLICA:
        return False
    return s.up[s.leader] == 0 or (
        s.role[s.leader] == LEADER and s.known_epoch[s.leader] == s.epoch
    )


def is_candidate(s: Any, r: int) -> bool:
    """True if a broker is in the controller's ISR or ELR, and need not leave them to come back.

    With an ELR it leaves both as it comes back without a clean shutdown: it may have lost records.
    """
    return contains(s.isr | s.elr, r) and has_kept_log(s, r)


def has_kept_log(s: Any, r: int) -> bool:
    """True unless a broker is down without a clean shutdown, which an ELR takes note of."""
    return bool(s.up[r] == 1 or s.unclean[r] == CLEAN)


def is_proposed(s: Any, a: int, r: int) -> bool:
    """True if the newest leader asks to add a broker that has not come back since its fetch."""
    if s.known_epoch[a] != s.epoch or s.pending_stale[a] != 0 or not has_kept_log(s, r):
        return False
    return contains(s.pending_isr[a], r) and not contains(s.known_isr[a], r)


def may_advance(s: Any, c: Any, a: int) -> bool:
    """True if the ISR that a leader knows is large enough for its high watermark to advance."""
    if not has(c, HW_NEEDS_MIN_ISR):
        return True
    return size(s.known_isr[a]) >= leader_min_isr(s, c, a)
