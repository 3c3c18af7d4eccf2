"""Lemmas about logs and leader epochs in the message grain, for any number of replicas."""

from __future__ import annotations

from typing import Any

from waterline.invariants.lemmas.whole_logs import (
    has_others_from,
    is_of_leader,
    is_prefix,
    whole_at,
    whole_end,
    whole_epoch,
)
from waterline.model.message.assignment import controller_min_isr
from waterline.model.message.epochs import epoch_at
from waterline.model.message.features import ELR, has
from waterline.model.message.fetch import is_out_of_range, takes_fetch
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    ANSWERED,
    CLEAN,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    NO_ROLE,
    contains,
    size,
)
from waterline.model.message.truncation import carried_epoch, diverges, diverging_cut


def controller_in_shape(s: Any, c: Any) -> bool:
    """The leader is a member of the ISR that is not fenced, and no broker is stopping.

    Without an ELR the ISR has a member. With one it has none that is fenced or in the ELR, which is
    empty where the ISR is large enough.
    """
    if (s.isr == 0 and not has(c, ELR)) or s.stopping != 0:
        return False
    if has(c, ELR):
        if s.isr & (s.fenced | s.elr) != 0:
            return False
        if s.elr != 0 and size(s.isr) >= controller_min_isr(s, c):
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
        if s.up[r] == 1 and s.role[r] == NO_ROLE and s.unclean[r] != CLEAN:
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


LEMMAS = (
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
)
"""Those that every theorem of the message grain begins with."""


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


def accepted_fetch_agrees(s: Any, c: Any, follower: int) -> bool:
    """A leader answers with records a follower of its epoch that has a prefix of its log."""
    a = s.known_leader[follower]
    last = carried_epoch(s, c, follower)
    if not takes_fetch(s, c, a, follower, s.known_epoch[follower]):
        return True
    if diverges(s, c, a, s.leo[follower], last):
        return True
    if is_out_of_range(s, c, a, s.leo[follower], last):
        return True
    return is_of_leader(s, follower) and is_prefix(s, follower, a)


def cut_keeps_common(s: Any, c: Any, follower: int) -> bool:
    """A leader has a follower of its epoch cut no record that it has as well."""
    a = s.known_leader[follower]
    last = carried_epoch(s, c, follower)
    if not takes_fetch(s, c, a, follower, s.known_epoch[follower]):
        return True
    if diverges(s, c, a, s.leo[follower], last):
        cut, _ = diverging_cut(s, c, a, follower, last)
        return is_of_leader(s, follower) and has_others_from(s, follower, a, cut)
    return True


def entry_values(s: Any, replica: int, requested: int, latest: int, rounds: int) -> tuple[int, int]:
    """The least epoch so far and where its records begin, in a log whose epochs ascend."""
    if rounds == 0:
        return latest, s.leo[replica]
    return epoch_at(s, replica, s.leo[replica] - rounds), s.leo[replica] - rounds


FACTS = {"LeaderFetch": (accepted_fetch_agrees, cut_keeps_common)}
