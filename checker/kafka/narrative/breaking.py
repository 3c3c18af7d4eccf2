"""Location of a violation: brokers, offsets and records.

A claim's `explain` says it in words; this is the same for a picture (`WHERE`). A claim that is not
here is looked up in its own words, which may name more than what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from invariants import (
    consistent_read,
    epoch_cache_monotone,
    hw_monotone,
    no_divergence_below_hw,
    no_forced_exit,
    remote_leo_honest,
    replication_quorum,
)
from invariants.acknowledged_on_disk import everybody
from invariants.atomic.exposed import first_without
from invariants.completeness import first_incomplete
from invariants.current_leader import current_leader
from invariants.electable import electable
from invariants.kept_records import lacking
from model.atomic.quorum import quorum_isr, quorum_leader
from model.core.state import State
from model.message.terms import FETCHING, NO_REPLICA, contains, with_member


@dataclass(frozen=True, slots=True)
class Breaking:
    """Brokers by number, offsets and records that a claim breaks at; each may be none."""

    brokers: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    records: tuple[int, ...] = ()


Where = Callable[[State, State, Any], Breaking]
"""Of the state before the last step, the state after it, and the settings."""


def _records(mask: int, s: State) -> tuple[int, ...]:
    return tuple(r + 1 for r in range(s.records) if contains(mask, r))


def _offsets_of(s: State, records: tuple[int, ...]) -> tuple[int, ...]:
    """Where these records were committed, for those that were."""
    return tuple(o for o in range(s.exposed_end) if s.exposed[o] in records)


def _lacks_committed(s: State, replica: int) -> Breaking:
    """At which offset a replica lacks the record that was committed there."""
    for offset in range(s.exposed_end):
        if offset >= s.leo[replica] or s.log[replica, offset] != s.exposed[offset]:
            return Breaking((replica,), (offset,), (s.exposed[offset],))
    return Breaking((replica,))


def _leader_lacks(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    return _lacks_committed(s, leader) if leader != NO_REPLICA else Breaking()


def _leader_lacks_acknowledged(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    if leader == NO_REPLICA:
        return Breaking()
    missing = _records(lacking(s, with_member(0, leader)), s)
    return Breaking((leader,), _offsets_of(s, missing), missing)


def _out_of_reach(before: State, s: State, c: Any) -> Breaking:
    may_lead = electable(s, c)
    missing = _records(lacking(s, may_lead), s)
    brokers = tuple(r for r in range(s.replicas) if contains(may_lead, r))
    return Breaking(brokers, _offsets_of(s, missing), missing)


def _nowhere(before: State, s: State, c: Any) -> Breaking:
    missing = _records(lacking(s, everybody(s)), s)
    return Breaking((), _offsets_of(s, missing), missing)


def _diverges(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    for follower in range(s.replicas):
        if s.role[follower] == FETCHING and s.known_epoch[follower] == s.known_epoch[leader]:
            offset = no_divergence_below_hw.first_difference(s, leader, follower)
            if offset >= 0:
                records = (s.log[leader, offset], s.log[follower, offset])
                return Breaking((leader, follower), (offset,), records)
    return Breaking()


def _reads_other(before: State, s: State, c: Any) -> Breaking:
    for leader in range(s.replicas):
        if s.role[leader] == 1:
            offset = consistent_read.first_other_record(s, leader)
            if offset >= 0:
                records = (s.log[leader, offset], s.exposed[offset])
                return Breaking((leader,), (offset,), records)
    return Breaking()


def _consumer(before: State, s: State, c: Any) -> Breaking:
    return Breaking((), (s.consumed - 1,), (s.last_consumed,))


def _believes(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    for follower in range(s.replicas):
        if remote_leo_honest.is_follower(s, leader, follower):
            offset = remote_leo_honest.first_false_offset(s, leader, follower)
            if offset >= 0:
                return Breaking((leader, follower), (offset,), (s.log[leader, offset],))
    return Breaking()


def _candidate_lacks(before: State, s: State, c: Any) -> Breaking:
    return _lacks_committed(s, first_incomplete(s, s.isr | s.elr))


def _member_lacks(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    found = _lacks_committed(s, first_incomplete(s, s.known_isr[leader]))
    return Breaking((leader, *found.brokers), found.offsets, found.records)


def _leader_shows_less(before: State, s: State, c: Any) -> Breaking:
    leader = current_leader(s)
    hidden = range(s.hw[leader], s.exposed_end)
    return Breaking((leader,), tuple(hidden), tuple(s.exposed[o] for o in hidden))


def _not_waited_for(before: State, s: State, c: Any) -> Breaking:
    left_out = replication_quorum.not_waited_for(s, c)
    out = (r for r in range(s.replicas) if contains(left_out, r))
    return Breaking((current_leader(s), *out))


def _isr_and_elr(before: State, s: State, c: Any) -> Breaking:
    suspects = s.isr & s.elr or s.isr & s.fenced or s.elr
    return Breaking(tuple(r for r in range(s.replicas) if contains(suspects, r)))


def _epochs_decrease(before: State, s: State, c: Any) -> Breaking:
    for r in range(s.replicas):
        offset = epoch_cache_monotone.first_decrease(s, r)
        if offset >= 0:
            return Breaking((r,), (offset,), (s.log[r, offset],))
    return Breaking()


def _falls(before: State, s: State, c: Any) -> Breaking:
    leader = hw_monotone.first_fallen(before, s)
    hidden = range(s.hw[leader], before.hw[leader])
    return Breaking((leader,), tuple(hidden))


def _exits(before: State, s: State, c: Any) -> Breaking:
    replica = no_forced_exit.first_exit(before, s)
    beyond = range(before.answer_offset[replica], before.leo[replica])
    return Breaking((replica,), tuple(beyond), tuple(before.log[replica, o] for o in beyond))


def _nobody(before: State, s: State, c: Any) -> Breaking:
    return Breaking()


def _exposed(s: State, leader: int, replica: int) -> Breaking:
    """Where `replica` lacks what this leader of the atomic grain has exposed."""
    for offset in range(s.hw[leader]):
        there = {r: s.log[r, offset] for r in (leader, replica) if offset < s.leo[r]}
        if len(set(there.values())) != 1 or len(there) != 2:
            return Breaking((leader, replica), (offset,), tuple(there.values()))
    return Breaking((leader, replica))


def _quorum_lacks(before: State, s: State, c: Any) -> Breaking:
    pairs = ((leader, first_without(s, leader, quorum_isr(s))) for leader in range(s.replicas))
    return next((_exposed(s, a, b) for a, b in pairs if b != NO_REPLICA), Breaking())


def _own_isr_lacks(before: State, s: State, c: Any) -> Breaking:
    pairs = (
        (leader, first_without(s, leader, s.known_isr[leader])) for leader in range(s.replicas)
    )
    return next((_exposed(s, a, b) for a, b in pairs if b != NO_REPLICA), Breaking())


def _quorum_leader(before: State, s: State, c: Any) -> Breaking:
    leader = quorum_leader(s)
    return Breaking(() if leader == NO_REPLICA else (leader,))


WHERE: dict[str, dict[str, Where]] = {
    "message": {
        "no_committed_loss": _leader_lacks,
        "acknowledged_durable": _leader_lacks_acknowledged,
        "acknowledged_somewhere": _out_of_reach,
        "acknowledged_on_disk": _nowhere,
        "leader_possible": _nobody,
        "no_divergence_below_hw": _diverges,
        "consistent_read": _reads_other,
        "consumer_in_order": _consumer,
        "visible_hw": _leader_shows_less,
        "hw_covers_committed": _leader_shows_less,
        "remote_leo_honest": _believes,
        "candidates_complete": _candidate_lacks,
        "leader_isr_complete": _member_lacks,
        "replication_quorum": _not_waited_for,
        "valid_isr": _isr_and_elr,
        "epoch_cache_monotone": _epochs_decrease,
        "hw_monotone": _falls,
        "no_forced_exit": _exits,
    },
    "atomic": {
        "strong_isr": _quorum_lacks,
        "weak_isr": _own_isr_lacks,
        "leader_in_isr": _quorum_leader,
        "elected_leader_in_isr": _quorum_leader,
        "type_ok": _nobody,
    },
}
"""By grain and by claim; each is asked only where the claim breaks."""


def breaking(
    grain: str, claim: str, before: State, after: State, settings: Any, explanation: str
) -> Breaking:
    """Where `claim` breaks with the last step.

    Of a claim that has no place here it is what its `explanation` names: r1, offset 0, m1.
    """
    where = WHERE.get(grain, {}).get(claim)
    return where(before, after, settings) if where is not None else _named_in(explanation)


def _named_in(explanation: str) -> Breaking:
    found = (_BROKER.findall(explanation), _OFFSET.findall(explanation))
    brokers, offsets = (tuple(dict.fromkeys(map(int, numbers))) for numbers in found)
    return Breaking(brokers, offsets, tuple(dict.fromkeys(map(int, _RECORD.findall(explanation)))))


_BROKER = re.compile(r"\br(\d{1,3})\b", re.ASCII)
_OFFSET = re.compile(r"\boffset (\d{1,3})\b", re.ASCII)
_RECORD = re.compile(r"\bm(\d{1,3})\b", re.ASCII)
