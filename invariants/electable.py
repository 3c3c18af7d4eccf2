"""Replicas that may still lead, by the rules of the version alone and whatever they have lost.

`candidates_complete` is about an election that may come at once, this about any that may come at
all: a broker that is down counts, if it may be elected when it is back.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.controller import unavailable
from waterline.model.message.features import ELR, LAST_KNOWN_LEADER, has
from waterline.model.message.partition_state import leaves_elr
from waterline.model.message.terms import contains, with_member


def electable(s: Any, c: Any) -> int:
    """The replicas that lead, or that could be elected before they replicate anything more.

    Whichever brokers crash, come back or are fenced meanwhile. With unclean elections everybody.
    """
    if c.unclean_leader_election == 1:
        return assigned_replicas(s, c)
    members = 0
    for replica in range(s.replicas):
        if is_electable(s, c, replica):
            members = with_member(members, replica)
    return members


def is_electable(s: Any, c: Any, replica: int) -> bool:
    """True if the replica could be elected, without unclean elections.

    It is a member of the ISR: without ELR the last member stays in it, down or not. With ELR a
    member of the ELR counts too, once the ISR is empty. But a broker that is down and did not stop
    properly leaves both as it comes back (ReplicationControlManager.handleBrokerShutdown). Then it
    can only be the last known leader, which it still becomes if the controller elects it before it
    notices.
    """
    if not contains(assigned_replicas(s, c), replica):
        return False
    if not has(c, ELR):
        return contains(s.isr, replica)
    if contains(s.isr | s.elr, replica):
        if s.up[replica] == 1 or not leaves_elr(s, c, replica):
            return True
        if has(c, LAST_KNOWN_LEADER) and not contains(unavailable(s), replica):
            return True
    return bool(s.last_leader == replica and not is_forestalled(s, c))


def is_forestalled(s: Any, c: Any) -> bool:
    """True if the ELR keeps a member, so that the last known leader is not elected.

    That member has shut down properly and leads first, or it is not a replica and never leads.
    """
    for replica in range(s.replicas):
        if contains(s.elr, replica):
            if not contains(assigned_replicas(s, c), replica):
                return True
            if s.up[replica] == 0 and not leaves_elr(s, c, replica):
                return True
    return False
