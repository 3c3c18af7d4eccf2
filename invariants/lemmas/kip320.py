"""Lemmas of version `kip320` in the atomic grain, for its three claims about the ISR.

The idea of the proof: nothing is committed in an epoch between that of a member of an ISR and its
leader's. So a member either has all that was committed, or its lateness stops the leader from
committing more. The lemmas are about the state and its history (`model.atomic.history`).
"""

from __future__ import annotations

from typing import Any

from waterline.invariants.atomic import elected_leader_in_isr, strong_isr, weak_isr
from waterline.model.atomic.state import leads, quorum_isr
from waterline.model.core.claim import Invariant
from waterline.model.message.epochs import epoch_at
from waterline.model.message.terms import NO_EPOCH, NO_REPLICA, contains


def has_committed(s: Any, replica: int, offset: int) -> bool:
    """True if its log has the record that was committed there."""
    return offset < s.leo[replica] and s.log[replica, offset] == s.committed[offset]


def is_open(s: Any, epoch: int) -> bool:
    """True if the leader of the epoch has not acted on its request, or there is none."""
    leader = s.request_leader[epoch]
    return leader == NO_REPLICA or s.known_epoch[leader] < epoch


def is_passed(s: Any, epoch: int) -> bool:
    """True if a replica knows a later epoch."""
    for replica in range(s.replicas):
        if s.known_epoch[replica] > epoch:
            return True
    return False


def has_lost_member(s: Any, members: int, epoch: int) -> bool:
    """True if one of these members knows a later epoch."""
    for replica in range(s.replicas):
        if contains(members, replica) and s.known_epoch[replica] > epoch:
            return True
    return False


def logs_in_shape(s: Any, c: Any) -> bool:
    """A log has produced records alone, its high watermark is in it, and its epoch was issued."""
    for r in range(s.replicas):
        if s.hw[r] > s.leo[r] or s.known_epoch[r] >= s.issued:
            return False
        for o in range(s.leo[r]):
            if s.log[r, o] < 1 or s.log[r, o] > s.produced:
                return False
    return True


def future_epochs_have_no_leader(s: Any, c: Any) -> bool:
    """No epoch that was not issued has a leader."""
    for e in range(s.issued, s.requests):
        if s.request_leader[e] != NO_REPLICA:
            return False
    return True


def same_record_same_prefix(s: Any, c: Any) -> bool:
    """Two logs with the same record at an offset are the same below it."""
    for a in range(s.replicas):
        for b in range(a):
            for i in range(min(s.leo[a], s.leo[b])):
                if s.log[a, i] == s.log[b, i]:
                    for j in range(i):
                        if s.log[a, j] != s.log[b, j]:
                            return False
    return True


def no_record_of_the_future(s: Any, c: Any) -> bool:
    """No log has a record of a later epoch than its replica knows."""
    for r in range(s.replicas):
        for o in range(s.leo[r]):
            if epoch_at(s, r, o) > s.known_epoch[r]:
                return False
    return True


def followers_are_prefixes(s: Any, c: Any) -> bool:
    """The log of each replica in a leader's epoch is a prefix of the leader's."""
    for a in range(s.replicas):
        if leads(s, a):
            for f in range(s.replicas):
                if s.known_epoch[f] == s.known_epoch[a]:
                    if s.leo[f] > s.leo[a]:
                        return False
                    for o in range(s.leo[f]):
                        if s.log[f, o] != s.log[a, o]:
                            return False
    return True


def leader_acts_first(s: Any, c: Any) -> bool:
    """No replica is in an epoch that its leader has not been in."""
    for r in range(s.replicas):
        if s.known_epoch[r] != NO_EPOCH and is_open(s, s.known_epoch[r]):
            return False
    return True


def leader_is_a_member(s: Any, c: Any) -> bool:
    """A leader is in the ISR of its request, and in its own."""
    for e in range(s.issued):
        if s.request_leader[e] != NO_REPLICA:
            if not contains(s.request_isr[e], s.request_leader[e]):
                return False
    for r in range(s.replicas):
        if leads(s, r) and not contains(s.known_isr[r], r):
            return False
    return True


def open_requests_shrink(s: Any, c: Any) -> bool:
    """Of two epochs later than any that a replica knows, the later has no larger ISR."""
    for later in range(s.issued):
        for e in range(later):
            if not is_passed(s, e - 1) and s.request_isr[later] & ~s.request_isr[e] != 0:
                return False
    return True


def newest_leader_has_all(s: Any, c: Any) -> bool:
    """The ISR of the newest leader includes those of all later requests."""
    for a in range(s.replicas):
        if leads(s, a) and not is_passed(s, s.known_epoch[a]):
            for e in range(s.known_epoch[a] + 1, s.issued):
                if s.request_isr[e] & ~s.known_isr[a] != 0:
                    return False
    return True


def old_leader_lost_a_member(s: Any, c: Any) -> bool:
    """If a replica knows a later epoch than a leader, a member of the leader's ISR does."""
    for a in range(s.replicas):
        if leads(s, a) and is_passed(s, s.known_epoch[a]):
            if not has_lost_member(s, s.known_isr[a], s.known_epoch[a]):
                return False
    return True


def old_request_lost_a_member(s: Any, c: Any) -> bool:
    """The same holds for a request on which its leader has yet to act."""
    for e in range(s.issued):
        if s.request_leader[e] != NO_REPLICA and is_open(s, e) and is_passed(s, e):
            if not has_lost_member(s, s.request_isr[e], e):
                return False
    return True


def watermarks_are_committed(s: Any, c: Any) -> bool:
    """Each record below a high watermark was committed, in an epoch that the replica knows."""
    for r in range(s.replicas):
        if s.hw[r] > s.committed_end:
            return False
        for o in range(s.hw[r]):
            if s.log[r, o] != s.committed[o] or s.commit_epoch[o] > s.known_epoch[r]:
                return False
    return True


def leader_acts_before_commits(s: Any, c: Any) -> bool:
    """Nothing was committed in an epoch that its leader has not been in."""
    for o in range(s.committed_end):
        if is_open(s, s.commit_epoch[o]):
            return False
    return True


def members_have_commits(s: Any, c: Any) -> bool:
    """All of a leader's own ISR has each record that was committed up to the leader's epoch."""
    for a in range(s.replicas):
        if leads(s, a):
            for x in range(s.replicas):
                if contains(s.known_isr[a], x):
                    for o in range(s.committed_end):
                        if s.commit_epoch[o] <= s.known_epoch[a] and not has_committed(s, x, o):
                            return False
    return True


def candidates_have_commits(s: Any, c: Any) -> bool:
    """All of the ISR of an open request has each record that was committed before its epoch."""
    for e in range(s.issued):
        if is_open(s, e):
            for x in range(s.replicas):
                if contains(s.request_isr[e], x):
                    for o in range(s.committed_end):
                        if s.commit_epoch[o] < e and not has_committed(s, x, o):
                            return False
    return True


def late_member_stops_commits(s: Any, c: Any) -> bool:
    """Nothing was committed in an epoch between that of an ISR's member and its leader's."""
    for a in range(s.replicas):
        if leads(s, a):
            for x in range(s.replicas):
                if contains(s.known_isr[a], x):
                    for o in range(s.committed_end):
                        if s.known_epoch[x] < s.commit_epoch[o] <= s.known_epoch[a]:
                            return False
    return True


def late_candidate_stops_commits(s: Any, c: Any) -> bool:
    """The same holds for the ISR of an open request."""
    for e in range(s.issued):
        if is_open(s, e):
            for x in range(s.replicas):
                if contains(s.request_isr[e], x):
                    for o in range(s.committed_end):
                        if s.known_epoch[x] < s.commit_epoch[o] < e:
                            return False
    return True


def uncounted_commits_are_older(s: Any, c: Any) -> bool:
    """A record committed above a leader's own high watermark is of an earlier epoch than its."""
    for a in range(s.replicas):
        if leads(s, a):
            for o in range(s.hw[a], s.committed_end):
                if s.commit_epoch[o] <= s.known_epoch[a] and o < s.leo[a]:
                    if epoch_at(s, a, o) >= s.known_epoch[a]:
                        return False
    return True


def quorum_has_commits(s: Any, c: Any) -> bool:
    """All of the quorum's ISR has each record that was committed."""
    isr = quorum_isr(s)
    for x in range(s.replicas):
        if contains(isr, x):
            for o in range(s.committed_end):
                if not has_committed(s, x, o):
                    return False
    return True


LEMMAS = tuple(
    Invariant.of(rule)
    for rule in (
        logs_in_shape,
        future_epochs_have_no_leader,
        same_record_same_prefix,
        no_record_of_the_future,
        followers_are_prefixes,
        leader_acts_first,
        leader_is_a_member,
        open_requests_shrink,
        newest_leader_has_all,
        old_leader_lost_a_member,
        old_request_lost_a_member,
        watermarks_are_committed,
        leader_acts_before_commits,
        members_have_commits,
        candidates_have_commits,
        late_member_stops_commits,
        late_candidate_stops_commits,
        uncounted_commits_are_older,
    )
)
"""The invariant: all of them together are true at first, and after each step if they are before."""
FOLLOWS = (Invariant.of(quorum_has_commits),)
"""Lemmas that the others imply."""
CLAIMS = (weak_isr.CLAIM, strong_isr.CLAIM, elected_leader_in_isr.CLAIM)
