"""Lemmas of `kraft` and of `elr`, with `fresh-remote-leo`, for any number of replicas.

The idea of the proof: a leader counts all candidates, which are the members of the controller's ISR
and ELR, so that a record which it exposes is in the log of each that may be elected. With an ISR
that is too small it exposes none. A machine that loses power leaves the candidates until a leader
has asked to add it again. One that another has replaced may expose records still: those
that are open (`open_records`). A log counts with the answer that is on its way to it:
the whole log. Lemmas speak of the state and of its history (`model.message.history`).
"""

from __future__ import annotations

from typing import Any

from waterline.invariants import no_committed_loss
from waterline.invariants.lemmas import logs, open_records
from waterline.invariants.lemmas.whole_logs import (
    has_exposed,
    has_fetched,
    is_candidate,
    is_proposed,
    newest_leads,
    whole_at,
    whole_end,
)
from waterline.model.core.claim import Invariant
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    LEADER,
    NO_ROLE,
    OUT_OF_RANGE,
    contains,
)


def fetchers_are_prefixes(s: Any, c: Any) -> bool:
    """The whole log of a broker that has fetched in a leader's epoch is a prefix of its log."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a and has_fetched(s, a, f):
                    if whole_end(s, f) > s.leo[a]:
                        return False
                    for o in range(whole_end(s, f)):
                        if whole_at(s, f, o) != s.log[a, o]:
                            return False
    return True


def remote_leos_are_reached(s: Any, c: Any) -> bool:
    """No remote LEO is above the leader's LEO, nor above that of a candidate that has fetched."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a:
                    if s.remote_leo[a, f] > s.leo[a]:
                        return False
                    if is_candidate(s, f) or is_proposed(s, a, f):
                        if has_fetched(s, a, f) and s.remote_leo[a, f] > s.leo[f]:
                            return False
    return True


def remote_leos_are_of_its_epoch(s: Any, c: Any) -> bool:
    """A broker whose LEO a leader knows is in no earlier epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a and s.remote_leo[a, f] >= 0 and s.role[f] != NO_ROLE:
                    if s.known_epoch[f] < s.known_epoch[a]:
                        return False
    return True


def answers_are_of_its_epoch(s: Any, c: Any) -> bool:
    """A leader that has answered a follower is in no earlier epoch."""
    for f in range(s.replicas):
        if follows(s, f) and s.fetch[f] > 1:
            leader = s.known_leader[f]
            if s.role[leader] == LEADER and s.known_epoch[leader] < s.known_epoch[f]:
                return False
    return True


def newest_is_heard_of_its_leader(s: Any, c: Any) -> bool:
    """No broker fetches and no record is exposed in an epoch before its leader leads in it."""
    for f in range(s.replicas):
        if (
            follows(s, f)
            and s.known_epoch[f] == s.epoch
            and (s.role[f] == FETCHING or s.fetch[f] > 1)
        ) and not newest_leads(s):
            return False
    for o in range(s.exposed_end):
        if s.expose_epoch[o] == s.epoch and not newest_leads(s):
            return False
    return True


def late_counted_stops_exposure(s: Any, c: Any) -> bool:
    """No record is exposed between the epoch of a broker that a leader counts and the leader's."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if (contains(s.known_isr[a], x) or contains(s.pending_isr[a], x)) and s.role[
                    x
                ] != NO_ROLE:
                    for o in range(s.exposed_end):
                        if s.known_epoch[x] < s.expose_epoch[o] <= s.known_epoch[a]:
                            return False
    return True


def proposed_have_exposed(s: Any, c: Any) -> bool:
    """A broker that the newest leader asks to add has each record that was exposed."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if is_proposed(s, a, x):
                    for o in range(s.exposed_end):
                        if s.expose_epoch[o] <= s.known_epoch[a] and not has_exposed(s, x, o):
                            return False
    return True


def proposed_are_of_its_epoch(s: Any, c: Any) -> bool:
    """A broker that a leader asks to add is in no earlier epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if contains(s.pending_isr[a], x) and not contains(s.known_isr[a], x):
                    if s.role[x] != NO_ROLE and s.known_epoch[x] < s.known_epoch[a]:
                        return False
    return True


def requests_add_or_remove(s: Any, c: Any) -> bool:
    """A leader does not ask to add a broker and to remove another at once."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if contains(s.pending_isr[a], x) and not contains(s.known_isr[a], x):
                    for y in range(s.replicas):
                        if contains(s.known_isr[a], y) and not contains(s.pending_isr[a], y):
                            return False
    return True


def late_member_stops_exposure(s: Any, c: Any) -> bool:
    """No record is exposed in a later epoch than a candidate knows."""
    for x in range(s.replicas):
        if is_candidate(s, x) and s.role[x] != NO_ROLE:
            for o in range(s.exposed_end):
                if s.expose_epoch[o] > s.known_epoch[x]:
                    return False
    return True


def exposed_are_older(s: Any, c: Any) -> bool:
    """A record is of no later epoch than the one that it was exposed in."""
    for o in range(s.exposed_end):
        if s.record_epoch[s.exposed[o] - 1] > s.expose_epoch[o]:
            return False
    return True


def leaders_exposed_themselves(s: Any, c: Any) -> bool:
    """A record that was exposed in a leader's epoch is below its high watermark."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for o in range(s.hw[a], s.exposed_end):
                if s.expose_epoch[o] == s.known_epoch[a]:
                    return False
    return True


def cuts_keep_common(s: Any, c: Any) -> bool:
    """A follower is about to cut no record that its leader has as well."""
    for f in range(s.replicas):
        if follows(s, f) and (s.fetch[f] == DIVERGING or s.fetch[f] == OUT_OF_RANGE):
            leader = s.known_leader[f]
            if s.role[leader] == LEADER and s.known_epoch[leader] == s.known_epoch[f]:
                for o in range(s.answer_offset[f], min(s.leo[f], s.leo[leader])):
                    if s.log[f, o] == s.log[leader, o]:
                        return False
    return True


def isr_is_the_leaders(s: Any, c: Any) -> bool:
    """A leader counts itself, and knows the ISR if it knows the partition."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            if not contains(s.known_isr[a], a) or (
                s.pending_isr[a] != 0 and not contains(s.pending_isr[a], a)
            ):
                return False
            if s.known_epoch[a] == s.epoch and s.outdated[a] == 0 and s.known_isr[a] != s.isr:
                return False
    return True


def exposed_is_noted(s: Any, c: Any) -> bool:
    """The history has each exposed record, which was produced, with an epoch that was issued."""
    if s.noted_end != s.exposed_end:
        return False
    for o in range(s.exposed_end):
        if s.expose_epoch[o] > s.epoch or not 1 <= s.exposed[o] <= s.produced:
            return False
    return True


def watermarks_are_exposed(s: Any, c: Any) -> bool:
    """No high watermark, on disk, in memory or in an answer, is above what was exposed."""
    for r in range(s.replicas):
        if s.hw[r] > s.exposed_end or s.checkpoint[r] > s.exposed_end:
            return False
        if follows(s, r) and s.fetch[r] == ANSWERED and s.answer_offset[r] > s.exposed_end:
            return False
    return True


def leaders_have_exposed(s: Any, c: Any) -> bool:
    """A leader has each record that was exposed up to its epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for o in range(s.exposed_end):
                if s.expose_epoch[o] <= s.known_epoch[a] and not has_exposed(s, a, o):
                    return False
    return True


def candidates_have_exposed(s: Any, c: Any) -> bool:
    """Each candidate for leader, of the controller's ISR or ELR, has every exposed record."""
    for x in range(s.replicas):
        if is_candidate(s, x):
            for o in range(s.exposed_end):
                if not has_exposed(s, x, o):
                    return False
    return True


def cuts_keep_exposed(s: Any, c: Any) -> bool:
    """A follower is about to cut no exposed record."""
    for f in range(s.replicas):
        if follows(s, f) and (s.fetch[f] == DIVERGING or s.fetch[f] == OUT_OF_RANGE):
            for o in range(s.exposed_end):
                if (
                    s.expose_epoch[o] <= s.known_epoch[f]
                    and has_exposed(s, f, o)
                    and o >= s.answer_offset[f]
                ):
                    return False
    return True


LEMMAS = tuple(
    Invariant.of(rule)
    for rule in (
        *logs.LEMMAS,
        fetchers_are_prefixes,
        remote_leos_are_reached,
        remote_leos_are_of_its_epoch,
        isr_is_the_leaders,
        open_records.isr_is_counted,
        open_records.later_members_are_counted,
        open_records.deposed_by_a_counted,
        open_records.later_leaders_have_open,
        open_records.candidates_have_open,
        open_records.proposed_have_open,
        open_records.cuts_keep_open,
        logs.cached_epochs_are_nobodys,
        proposed_have_exposed,
        proposed_are_of_its_epoch,
        requests_add_or_remove,
        late_member_stops_exposure,
        exposed_are_older,
        leaders_exposed_themselves,
        cuts_keep_common,
        answers_are_of_its_epoch,
        newest_is_heard_of_its_leader,
        late_counted_stops_exposure,
        exposed_is_noted,
        watermarks_are_exposed,
        leaders_have_exposed,
        candidates_have_exposed,
        cuts_keep_exposed,
    )
)
CLAIMS = (no_committed_loss.CLAIM,)
