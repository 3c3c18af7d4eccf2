"""The controller: it notices dead brokers, elects leaders, and moves leadership.

Each of its steps is one atomic write of the partition state. What brokers know of it is another
matter: see `model.message.metadata`.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.features import (
    COORDINATOR,
    ELR,
    KRAFT,
    LAST_KNOWN_LEADER_FENCED,
    LONGEST_LOG,
    SHRINK_RAISES_EPOCH,
    has,
)
from waterline.model.message.partition_state import (
    begin_epoch,
    elr_beside,
    has_room,
    outdate_leader,
    write_isr,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ELECT_ANY,
    NO_REPLICA,
    contains,
    size,
    with_member,
    without_member,
)


def unavailable(s: Any) -> int:
    """The brokers that the controller knows to be down, or to be about to go."""
    members: int = s.fenced | s.stopping
    return members


def candidates(s: Any, c: Settings, out: int) -> int:
    """The replicas that may be elected if the brokers `out` were unavailable.

    They are the available members of the ISR; if the ISR is empty, those of the ELR (KIP-966); if
    that is empty too, the last known leader, where it is remembered, in 4.0 also a fenced one;
    failing those, with unclean.leader.election.enable, every available replica; otherwise none
    (NoReplicaOnlineException in OfflinePartitionLeaderSelector, PartitionChangeBuilder under
    KRaft). A dead broker that is not fenced yet can be elected.
    """
    return eligible(s, c, s.isr, s.elr, out)


def eligible(s: Any, c: Settings, isr: int, elr: int, out: int) -> int:
    """The replicas that may be elected with this ISR and this ELR."""
    in_sync: int = isr & ~out & assigned_replicas(s, c)
    if isr == 0:
        in_sync = elr & ~out & assigned_replicas(s, c)
    if isr == 0 and elr == 0 and s.last_leader != NO_REPLICA:
        in_sync = with_member(0, s.last_leader) & assigned_replicas(s, c)
        if not has(c, LAST_KNOWN_LEADER_FENCED):
            in_sync &= ~out
    if in_sync == 0 and c.unclean_leader_election == 1:
        alive: int = assigned_replicas(s, c) & ~out
        return longest_logs(s, alive) if has(c, LONGEST_LOG) else alive
    return in_sync


def longest_logs(s: Any, alive: int) -> int:
    """Of these brokers, those that run and have the longest log, as they would report it."""
    longest = 0
    members = 0
    for replica in range(s.replicas):
        if contains(alive, replica) and s.up[replica] == 1:
            if s.leo[replica] > longest:
                longest = s.leo[replica]
                members = 0
            if s.leo[replica] == longest:
                members = with_member(members, replica)
    return members


def next_leader(s: Any, c: Settings, out: int) -> int:
    """The first candidate in assignment order, or none."""
    may_win = candidates(s, c, out)
    for replica in range(s.replicas):
        if contains(may_win, replica):
            return replica
    return NO_REPLICA


def elect(s: Any, c: Settings, winner: int) -> None:
    """Write the winner; one from outside the ISR becomes the whole ISR.

    From the ELR it leaves the others eligible; an unclean election empties it
    (PartitionChangeBuilder.tryElection, maybeUpdateRecordElr). Who led last no longer matters.
    """
    s.leader = winner
    s.last_leader = NO_REPLICA
    if not contains(s.isr, winner):
        from_elr = contains(s.elr, winner)
        s.isr = with_member(0, winner)
        s.elr = without_member(s.elr, winner) if from_elr else 0


def elect_next(s: Any, c: Settings) -> None:
    """Elect the first candidate, or leave the partition without a leader."""
    winner = next_leader(s, c, unavailable(s))
    if winner == NO_REPLICA:
        s.leader = NO_REPLICA
    else:
        elect(s, c, winner)


def session_expires(s: Any, replica: int) -> bool:
    """A broker is down and the controller does not know it yet."""
    return s.up[replica] == 0 and not contains(s.fenced, replica)


def leaves_a_choice(s: Any, c: Settings, replica: int) -> bool:
    """True if taking out the replica elects a leader, and there is more than one candidate.

    Only with the election order `any`. A restarting broker never leaves a choice: the partition has
    no leader only while the last member of the ISR is fenced, or with unclean election while all
    are, so the broker is the only candidate.
    """
    if c.election_order != ELECT_ANY or s.leader != replica or not contains(s.isr, replica):
        return False
    return size(candidates_without(s, c, replica)) > 1


def candidates_without(s: Any, c: Settings, replica: int) -> int:
    """The replicas that may be elected once this one has been taken out of the ISR."""
    isr = isr_without(s, c, replica)
    elr = elr_beside(s, c, isr) if has(c, ELR) else s.elr
    return eligible(s, c, isr, elr, with_member(unavailable(s), replica))


def isr_without(s: Any, c: Settings, replica: int) -> int:
    """The ISR less a member; without ELR the last one stays, so that it can come back as leader."""
    remaining = without_member(s.isr, replica)
    return remaining if remaining != 0 or has(c, ELR) else s.isr


def removal_starts_epoch(s: Any, c: Settings, replica: int) -> bool:
    """True if the controller starts an epoch by taking this broker out.

    Fluss's coordinator does if it leads. With ZooKeeper if it is in the ISR, even if the leader
    stays (KafkaController.removeReplicaFromIsr); under KRaft if it leads, and until 3.6 also if the
    ISR shrinks (KAFKA-15021).
    """
    if not contains(s.isr, replica):
        return False
    if has(c, COORDINATOR) or s.leader == replica:
        return bool(s.leader == replica)
    if not has(c, KRAFT):
        return True
    return has(c, SHRINK_RAISES_EPOCH) and s.isr != with_member(0, replica)


def remove_from_isr(s: Any, c: Settings, replica: int) -> None:
    """A broker leaves the ISR, if it may."""
    if removal_starts_epoch(s, c, replica):
        begin_epoch(s, c)
    elif contains(s.isr, replica):
        outdate_leader(s)
    if contains(s.isr, replica) and isr_without(s, c, replica) != s.isr:
        write_isr(s, c, isr_without(s, c, replica))


def can_fence(s: Any, c: Settings, replica: int) -> bool:
    """A broker is down and its session expires; who leads then is not open."""
    return session_expires(s, replica) and not leaves_a_choice(s, c, replica)


def fence_limit(s: Any, c: Settings, replica: int) -> int:
    """Fencing a member of the ISR may start an epoch."""
    if not has_room(s, 1) and removal_starts_epoch(s, c, replica):
        return limits.EPOCHS
    return limits.WITHIN


def fence(s: Any, c: Settings, replica: int) -> None:
    """The controller sees the broker gone; if it led, another leader is elected.

    All of it is one step here.
    """
    s.fenced = with_member(s.fenced, replica)
    s.stopping = without_member(s.stopping, replica)
    take_out(s, c, replica)


def take_out(s: Any, c: Settings, replica: int) -> None:
    """A broker that is unavailable by now leaves the ISR and, if it led, leadership."""
    led = s.leader == replica
    remove_from_isr(s, c, replica)
    if led:
        elect_next(s, c)


def can_fence_and_elect(s: Any, c: Settings, replica: int, winner: int) -> bool:
    """The session of a broker that leads expires, and the winner is one of several candidates."""
    if not session_expires(s, replica) or not leaves_a_choice(s, c, replica):
        return False
    return contains(candidates_without(s, c, replica), winner)


def fence_and_elect_limit(s: Any, c: Settings, replica: int, winner: int) -> int:
    """As `fence_limit`: the epoch begins whichever broker wins."""
    return fence_limit(s, c, replica)


def fence_and_elect(s: Any, c: Settings, replica: int, winner: int) -> None:
    """As `fence`, but the winner of the election is any candidate, not the first as assigned.

    The operator decides the order of assignment; an election by it distinguishes replicas that are
    otherwise alike.
    """
    s.fenced = with_member(s.fenced, replica)
    remove_from_isr(s, c, replica)
    elect(s, c, winner)


def can_move(s: Any, c: Settings, replica: int) -> bool:
    """Another member of the ISR, not known to be down or going, may be made leader."""
    if s.leader == NO_REPLICA or s.leader == replica:
        return False
    return contains(s.isr, replica) and not contains(unavailable(s), replica)


def move_limit(s: Any, c: Settings, replica: int) -> int:
    """Each starts an epoch."""
    return limits.WITHIN if has_room(s, 1) else limits.EPOCHS


def move(s: Any, c: Settings, replica: int) -> None:
    """Preferred replica election or reassignment: a new leader, the same ISR."""
    begin_epoch(s, c)
    s.leader = replica
