"""Lemmas of `kraft` with `fresh-remote-leo` in the message grain, for two replicas.

The idea of the proof: every leader counts the whole ISR of the controller, so that a record which a
leader exposes is in the log of each that may be elected. A log counts with the answer that is on
its way to it: the whole log. Lemmas that only two replicas fulfil say so. They speak of the state
and of its history (`model.message.history`).
"""

from __future__ import annotations

from typing import Any

from waterline.invariants import no_committed_loss
from waterline.invariants.lemmas.whole_logs import (
    has_exposed,
    has_fetched,
    newest_leads,
    whole_at,
    whole_end,
    whole_epoch,
)
from waterline.model.core.claim import Lemma
from waterline.model.message.epochs import epoch_at
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    NO_ROLE,
    OUT_OF_RANGE,
    contains,
)


def controller_in_shape(s: Any, c: Any) -> bool:
    """The ISR has a member, the leader is one that is not fenced, and no broker is stopping."""
    if s.isr == 0 or s.stopping != 0:
        return False
    return s.leader == NO_REPLICA or (
        contains(s.isr, s.leader) and not contains(s.fenced, s.leader)
    )


def brokers_in_shape(s: Any, c: Any) -> bool:
    """A broker with a role is up and knows an epoch, none later than the controller's."""
    for r in range(s.replicas):
        if s.known_epoch[r] > s.epoch:
            return False
        if s.up[r] == 0 and s.role[r] != NO_ROLE:
            return False
        if (s.role[r] == NO_ROLE) != (s.known_epoch[r] == NO_EPOCH):
            return False
        if s.up[r] == 1 and s.hw[r] > s.leo[r]:
            return False
    return True


def epoch_has_one_leader(s: Any, c: Any) -> bool:
    """Brokers in one epoch go by one leader: in the controller's epoch by the controller's."""
    for r in range(s.replicas):
        if s.role[r] == LEADER and s.known_epoch[r] == s.epoch and s.leader != r:
            return False
        if follows(s, r) and s.known_epoch[r] == s.epoch and s.leader != s.known_leader[r]:
            if s.leader != NO_REPLICA or s.known_leader[r] != r:
                return False
        if s.role[r] == LEADER:
            for f in range(s.replicas):
                if f != r and s.known_epoch[f] == s.known_epoch[r]:
                    if s.role[f] == LEADER or (follows(s, f) and s.known_leader[f] != r):
                        return False
    return True


def answers_in_shape(s: Any, c: Any) -> bool:
    """An answer has records without holes, and no broker answers itself."""
    for r in range(s.replicas):
        if (s.answer_size[r] >= 0) != (follows(s, r) and s.fetch[r] == ANSWERED):
            return False
        if follows(s, r):
            if s.known_leader[r] == r and s.fetch[r] > 1:
                return False
            for i in range(s.records):
                if (s.answer_log[r, i] != NO_RECORD) != (i < s.answer_size[r]):
                    return False
    return True


def logs_in_shape(s: Any, c: Any) -> bool:
    """A whole log has produced records of epochs that its broker knows."""
    for r in range(s.replicas):
        for o in range(whole_end(s, r)):
            if (
                whole_at(s, r, o) < 1
                or whole_at(s, r, o) > s.produced
                or whole_epoch(s, r, o) > s.epoch
            ):
                return False
            if s.role[r] != NO_ROLE and whole_epoch(s, r, o) > s.known_epoch[r]:
                return False
    return True


def epochs_ascend(s: Any, c: Any) -> bool:
    """Epochs never descend along a whole log."""
    for r in range(s.replicas):
        for o in range(whole_end(s, r)):
            for p in range(o):
                if whole_epoch(s, r, p) > whole_epoch(s, r, o):
                    return False
    return True


def same_record_same_prefix(s: Any, c: Any) -> bool:
    """Two whole logs with the same record at an offset are the same below it."""
    for a in range(s.replicas):
        for b in range(a):
            for o in range(min(whole_end(s, a), whole_end(s, b))):
                if whole_at(s, a, o) == whole_at(s, b, o):
                    for p in range(o):
                        if whole_at(s, a, p) != whole_at(s, b, p):
                            return False
    return True


def epoch_is_one_run(s: Any, c: Any) -> bool:
    """A whole log with a record of an epoch has each earlier record that another has of it."""
    for a in range(s.replicas):
        for b in range(s.replicas):
            for o in range(whole_end(s, a)):
                for p in range(o, whole_end(s, b)):
                    if whole_epoch(s, a, o) == whole_epoch(s, b, p) and whole_at(
                        s, a, o
                    ) != whole_at(s, b, o):
                        return False
    return True


def leader_has_its_epoch(s: Any, c: Any) -> bool:
    """A leader has every record of its own epoch that a whole log has."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for b in range(s.replicas):
                for o in range(whole_end(s, b)):
                    if whole_epoch(s, b, o) == s.known_epoch[a]:
                        if o >= s.leo[a] or s.log[a, o] != whole_at(s, b, o):
                            return False
    return True


def newest_epoch_is_its_leaders(s: Any, c: Any) -> bool:
    """A record of the controller's epoch exists only if its leader leads in it, or is down."""
    for b in range(s.replicas):
        for o in range(whole_end(s, b)):
            if whole_epoch(s, b, o) == s.epoch:
                if s.leader == NO_REPLICA:
                    return False
                if s.up[s.leader] == 1 and (
                    s.role[s.leader] != LEADER or s.known_epoch[s.leader] != s.epoch
                ):
                    return False
    return True


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


def remote_leos_are_true(s: Any, c: Any) -> bool:
    """Below a follower's remote LEO the follower has the leader's records: of two replicas."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for f in range(s.replicas):
                if f != a:
                    if s.remote_leo[a, f] > s.leo[f] or s.remote_leo[a, f] > s.leo[a]:
                        return False
                    for o in range(s.remote_leo[a, f]):
                        if s.log[a, o] != s.log[f, o]:
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


def cached_epochs_are_nobodys(s: Any, c: Any) -> bool:
    """An epoch without records in a follower's cache is over, and no record has it."""
    for f in range(s.replicas):
        if follows(s, f) and s.cached_epoch[f] != NO_EPOCH:
            if s.cached_epoch[f] >= s.known_epoch[f]:
                return False
            for b in range(s.replicas):
                if s.role[b] == LEADER and s.known_epoch[b] == s.cached_epoch[f]:
                    return False
                for o in range(whole_end(s, b)):
                    if whole_epoch(s, b, o) == s.cached_epoch[f]:
                        return False
            for o in range(s.leo[f]):
                if epoch_at(s, f, o) > s.cached_epoch[f]:
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


def members_have_exposed(s: Any, c: Any) -> bool:
    """All that a leader counts have each record that was exposed up to its epoch."""
    for a in range(s.replicas):
        if s.role[a] == LEADER:
            for x in range(s.replicas):
                if contains(s.known_isr[a], x) or contains(s.pending_isr[a], x):
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


def late_member_stops_exposure(s: Any, c: Any) -> bool:
    """No record is exposed in a later epoch than a member of the ISR knows."""
    for x in range(s.replicas):
        if contains(s.isr, x) and s.role[x] != NO_ROLE:
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
    """The history has each exposed record, with an epoch that was issued."""
    if s.noted_end != s.exposed_end:
        return False
    for o in range(s.exposed_end):
        if s.expose_epoch[o] > s.epoch:
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
    """Each member of the controller's ISR has every exposed record."""
    for x in range(s.replicas):
        if contains(s.isr, x):
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


_SHAPE = (
    "controller_in_shape",
    "brokers_in_shape",
    "epoch_has_one_leader",
    "answers_in_shape",
    "exposed_is_noted",
)
_LOGS = ("answers_in_shape", "logs_in_shape", "cached_epochs_are_nobodys")
_BY = {
    "epochs_ascend": (*_LOGS, "leader_has_its_epoch"),
    "same_record_same_prefix": (*_LOGS, "epoch_is_one_run", "leader_has_its_epoch"),
    "epoch_is_one_run": (*_LOGS, "leader_has_its_epoch"),
    "fetchers_are_prefixes": (*_LOGS, "epoch_is_one_run", "leader_has_its_epoch"),
    "cuts_keep_common": ("epochs_ascend", "cached_epochs_are_nobodys"),
    "cuts_keep_exposed": (
        "epochs_ascend",
        "cached_epochs_are_nobodys",
        "exposed_is_noted",
        "leaders_have_exposed",
    ),
    "members_have_exposed": (
        "logs_in_shape",
        "epochs_ascend",
        "epoch_is_one_run",
        "leader_has_its_epoch",
        "cached_epochs_are_nobodys",
        "exposed_are_older",
        "leaders_exposed_themselves",
        "exposed_is_noted",
        "leaders_have_exposed",
    ),
}
_RULES = (
    controller_in_shape,
    brokers_in_shape,
    epoch_has_one_leader,
    answers_in_shape,
    logs_in_shape,
    epochs_ascend,
    same_record_same_prefix,
    epoch_is_one_run,
    leader_has_its_epoch,
    newest_epoch_is_its_leaders,
    fetchers_are_prefixes,
    remote_leos_are_true,
    remote_leos_are_of_its_epoch,
    isr_is_the_leaders,
    isr_is_counted,
    cached_epochs_are_nobodys,
    members_have_exposed,
    proposed_are_of_its_epoch,
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
LEMMAS = tuple(Lemma.of(rule, _BY.get(rule.__name__, ())) for rule in _RULES)
ERRORS_BY = (
    "brokers_in_shape",
    "answers_in_shape",
    "logs_in_shape",
    "epochs_ascend",
    "cached_epochs_are_nobodys",
    "exposed_is_noted",
    "watermarks_are_exposed",
)


def entry_values(s: Any, replica: int, requested: int, latest: int, rounds: int) -> tuple[int, int]:
    """The least epoch so far and where its records begin, in a log whose epochs ascend."""
    if rounds == 0:
        return latest, s.leo[replica]
    return epoch_at(s, replica, s.leo[replica] - rounds), s.leo[replica] - rounds


CLAIMS = ((no_committed_loss.CLAIM, ("leaders_have_exposed", *_SHAPE)),)
