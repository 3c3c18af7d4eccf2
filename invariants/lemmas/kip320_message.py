"""Lemmas of `kip320` in the message grain, for two replicas; most are those of `kraft`.

The idea of the proof: whatever a leader exposes, each member of the ISR has, for it counts them
all. That a leader which leads on keeps what it knew of its followers (C21) does no harm with two
replicas: the other still has these records, and all that they allow is exposed already.
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.lemmas import kraft, logs
from waterline.invariants.lemmas.whole_logs import whole_at, whole_end
from waterline.model.core.claim import Invariant
from waterline.model.message.high_watermark import counted_isr, in_sync_end
from waterline.model.message.roles import follows
from waterline.model.message.terms import DIVERGING, FETCHING, IDLE, LEADER, OUT_OF_RANGE, contains


def fetches_are_in_range(s: Any, c: Any) -> bool:
    """Only a follower that has cut its log fetches, and not beyond the end of its leader's."""
    for f in range(s.replicas):
        if follows(s, f) and s.fetch[f] != IDLE:
            if s.role[f] != FETCHING or s.fetch[f] == DIVERGING or s.fetch[f] == OUT_OF_RANGE:
                return False
    return True


def fetching_are_prefixes(s: Any, c: Any) -> bool:
    """The whole log of a broker that fetches in a leader's epoch is a prefix of the leader's."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a and s.role[f] == FETCHING and s.known_epoch[f] == s.known_epoch[a]:
                    if whole_end(s, f) > s.leo[a]:
                        return False
                    for o in range(whole_end(s, f)):
                        if whole_at(s, f, o) != s.log[a, o]:
                            return False
    return True


def known_leos_are_true(s: Any, c: Any) -> bool:
    """A follower has what its leader knows it to have, whatever became of both: of two replicas."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a:
                    for o in range(s.remote_leo[a, f]):
                        if o >= s.leo[f] or o >= s.leo[a] or s.log[a, o] != s.log[f, o]:
                            return False
    return True


def isr_is_counted(s: Any, c: Any) -> bool:
    """Every leader counts the controller's ISR and all later leaders: of two replicas."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            if s.isr & ~counted_isr(s, c, a) != 0:
                return False
            for b in range(s.replicas):
                if (
                    s.role[b] == LEADER
                    and s.known_epoch[b] > s.known_epoch[a]
                    and not contains(counted_isr(s, c, a), b)
                ):
                    return False
    return True


def high_watermarks_are_tried(s: Any, c: Any) -> bool:
    """A leader has exposed all that those it counts are known to have."""
    for a in range(s.replicas):
        if s.role[a] == LEADER and in_sync_end(s, c, a) > s.hw[a]:
            return False
    return True


LEMMAS = tuple(
    Invariant.of(rule)
    for rule in (
        *logs.LEMMAS,
        logs.cached_epochs_are_nobodys,
        fetches_are_in_range,
        fetching_are_prefixes,
        known_leos_are_true,
        high_watermarks_are_tried,
        kraft.isr_is_the_leaders,
        isr_is_counted,
        kraft.late_member_stops_exposure,
        kraft.newest_is_heard_of_its_leader,
        kraft.exposed_is_noted,
        kraft.watermarks_are_exposed,
        kraft.leaders_have_exposed,
        kraft.candidates_have_exposed,
    )
)
CLAIMS = kraft.CLAIMS
