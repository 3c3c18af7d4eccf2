"""The controller: it notices dead brokers, elects leaders, and moves leadership.

Each of its steps is one atomic write of the partition state. What brokers know of it is another
matter: see `model.metadata`.
"""

from __future__ import annotations

from typing import Any

from model import limits
from model.settings import Settings
from model.terms import ELECT_ANY, NO_REPLICA, contains, size, with_member, without_member


def candidates(s: Any, c: Settings, fenced: int) -> int:
    """Who may be elected if `fenced` were the brokers known to be down.

    The members of the ISR that are not fenced; failing those, with unclean.leader.election.enable,
    everybody not fenced; otherwise nobody (NoReplicaOnlineException in
    OfflinePartitionLeaderSelector). A dead broker that is not fenced yet can be elected.
    """
    in_sync: int = s.isr & ~fenced
    if in_sync == 0 and c.unclean_leader_election == 1:
        return ((1 << s.replicas) - 1) & ~fenced
    return in_sync


def next_leader(s: Any, c: Settings, fenced: int) -> int:
    """The first candidate in assignment order, or nobody."""
    may_win = candidates(s, c, fenced)
    for replica in range(s.replicas):
        if contains(may_win, replica):
            return replica
    return NO_REPLICA


def elect(s: Any, winner: int) -> None:
    """Write the winner; one from outside the ISR becomes the whole ISR."""
    s.leader = winner
    if not contains(s.isr, winner):
        s.isr = with_member(0, winner)


def session_expires(s: Any, replica: int) -> bool:
    """A broker is down and the controller does not know it yet."""
    return s.up[replica] == 0 and not contains(s.fenced, replica)


def leaves_a_choice(s: Any, c: Settings, replica: int) -> bool:
    """Whether fencing the replica elects a leader, and more than one may be it.

    Only where the election order is `any`. A broker that restarts never leaves a choice: nobody
    leads only while the last of the ISR is fenced, or with unclean election while all are, so that
    it is itself the one candidate.
    """
    if c.election_order != ELECT_ANY or s.leader != replica or not contains(s.isr, replica):
        return False
    return size(candidates(s, c, with_member(s.fenced, replica))) > 1


def can_fence(s: Any, c: Settings, replica: int) -> bool:
    """A broker is down and its session expires; who leads then is not open."""
    return session_expires(s, replica) and not leaves_a_choice(s, c, replica)


def fence_limit(s: Any, c: Settings, replica: int) -> int:
    """Fencing a member of the ISR starts an epoch."""
    if contains(s.isr, replica) and s.epoch == s.epochs:
        return limits.EPOCHS
    return limits.WITHIN


def fence(s: Any, c: Settings, replica: int) -> None:
    """The controller sees the broker gone; if it led, another leader is elected.

    A member leaves the ISR unless it is the last one, so that it can come back as leader, and the
    leader epoch rises even where the leader stays (KafkaController.removeReplicaFromIsr). All of it
    is one step here.
    """
    led = s.leader == replica and contains(s.isr, replica)
    take_for_down(s, replica)
    if led:
        winner = next_leader(s, c, s.fenced)
        if winner == NO_REPLICA:
            s.leader = NO_REPLICA
        else:
            elect(s, winner)


def take_for_down(s: Any, replica: int) -> None:
    """Fence the broker. A member of the ISR leaves it, unless it is the last; an epoch begins."""
    s.fenced = with_member(s.fenced, replica)
    if contains(s.isr, replica):
        s.epoch = s.epoch + 1
        if without_member(s.isr, replica) != 0:
            s.isr = without_member(s.isr, replica)


def can_fence_and_elect(s: Any, c: Settings, replica: int, winner: int) -> bool:
    """The session of a broker that leads expires, and the winner is one of several candidates."""
    if not session_expires(s, replica) or not leaves_a_choice(s, c, replica):
        return False
    return contains(candidates(s, c, with_member(s.fenced, replica)), winner)


def fence_and_elect_limit(s: Any, c: Settings, replica: int, winner: int) -> int:
    """As `fence_limit`: the epoch begins whoever wins."""
    return fence_limit(s, c, replica)


def fence_and_elect(s: Any, c: Settings, replica: int, winner: int) -> None:
    """As `fence`, but the winner of the election is any candidate, not the first as assigned.

    The order of assignment is the operator's, and an election by it tells replicas apart that are
    otherwise alike.
    """
    take_for_down(s, replica)
    elect(s, winner)


def can_move(s: Any, c: Settings, replica: int) -> bool:
    """Another member of the ISR, not known to be down, may be made leader without any fault."""
    if s.leader == NO_REPLICA or s.leader == replica:
        return False
    return contains(s.isr, replica) and not contains(s.fenced, replica)


def move_limit(s: Any, c: Settings, replica: int) -> int:
    """The environment has a budget of moves, and each starts an epoch."""
    if s.moves_used == c.moves:
        return limits.MOVES
    return limits.WITHIN if s.epoch < s.epochs else limits.EPOCHS


def move(s: Any, c: Settings, replica: int) -> None:
    """Preferred replica election or reassignment: a new leader, the same ISR."""
    s.moves_used = s.moves_used + 1
    s.epoch = s.epoch + 1
    s.leader = replica
