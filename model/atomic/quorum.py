"""The leader: as the quorum has it, and as each replica believes.

The quorum is ZooKeeper's partition state. It is not stored: its leader and epoch are those of the
newest LeaderAndIsr request, its ISR is that of the leader once it acts on that request.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.terms import NO_EPOCH, NO_REPLICA


def known_leader(s: Any, replica: int) -> int:
    """The leader that the replica knows: itself, another, or none yet."""
    epoch = s.known_epoch[replica]
    return NO_REPLICA if epoch == NO_EPOCH else s.request_leader[epoch]


def leads(s: Any, replica: int) -> bool:
    """True if the replica believes that it leads, rightly or not; it then accepts writes."""
    return known_leader(s, replica) == replica


def quorum_leader(s: Any) -> int:
    """The leader that the controller has decided on, or none."""
    return NO_REPLICA if s.issued == 0 else s.request_leader[s.issued - 1]


def is_true_leader(s: Any, replica: int) -> bool:
    """True if the replica leads and the quorum agrees, epoch and all."""
    return s.known_epoch[replica] == s.issued - 1 and leads(s, replica)


def quorum_isr(s: Any) -> int:
    """The ISR in ZooKeeper: everybody at first, then what the newest epoch has made of it.

    The true leader changes it together with its own copy, so the two are one.
    """
    if s.issued == 0:
        return (1 << s.replicas) - 1
    leader = quorum_leader(s)
    if leader != NO_REPLICA and is_true_leader(s, leader):
        return s.known_isr[leader]
    return s.request_isr[s.issued - 1]
