"""The controller: it notices dead brokers, elects leaders, and moves leadership.

Each of its steps is one atomic write of the partition state. What brokers know of it is another
matter: see `model.metadata`.
"""

from __future__ import annotations

from typing import Any

from model import limits
from model.settings import Settings
from model.terms import NO_REPLICA, contains, with_member, without_member


def next_leader(s: Any, c: Settings, fenced: int) -> int:
    """Who would be elected if `fenced` were the brokers known to be down.

    The first replica in assignment order that is in the ISR and not fenced; failing that, with
    unclean.leader.election.enable, the first not fenced; otherwise nobody (NoReplicaOnlineException
    in OfflinePartitionLeaderSelector). A dead broker that is not fenced yet can be elected.
    """
    for replica in range(s.replicas):
        if contains(s.isr, replica) and not contains(fenced, replica):
            return replica
    if c.unclean_leader_election == 1:
        for replica in range(s.replicas):
            if not contains(fenced, replica):
                return replica
    return NO_REPLICA


def elect(s: Any, winner: int) -> None:
    """Write the winner; one from outside the ISR becomes the whole ISR."""
    s.leader = winner
    if not contains(s.isr, winner):
        s.isr = with_member(0, winner)


def can_fence(s: Any, c: Settings, replica: int) -> bool:
    """A broker is down and its session expires."""
    return s.up[replica] == 0 and not contains(s.fenced, replica)


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
    s.fenced = with_member(s.fenced, replica)
    if contains(s.isr, replica):
        s.epoch = s.epoch + 1
        if without_member(s.isr, replica) != 0:
            s.isr = without_member(s.isr, replica)
        if s.leader == replica:
            winner = next_leader(s, c, s.fenced)
            if winner == NO_REPLICA:
                s.leader = NO_REPLICA
            else:
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
