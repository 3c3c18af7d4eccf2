"""A partition without a leader: what brokers do that hear of it.

With ZooKeeper the controller sends nothing of such a partition. Under KRaft its record is read like
any other, and Fluss's coordinator sends it like any other.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import unwritten_epoch
from waterline.model.message.features import (
    COORDINATOR,
    EPOCH_ON_LEADING,
    STEPS_DOWN,
    TRUNCATE_LEADERLESS,
    has,
)
from waterline.model.message.roles import lay_down_role
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_EPOCH, NO_REPLICA, TRUNCATING
from waterline.model.message.truncation import keeps_epochs, truncate


def tells_of_no_leader(c: Settings) -> bool:
    """True if brokers hear that no broker leads: under KRaft since 3.3, and in Fluss."""
    return has(c, STEPS_DOWN) or has(c, COORDINATOR)


def follow_nobody(s: Any, c: Settings, replica: int, epoch: int) -> None:
    """The partition has no leader: a leader steps down, and a follower stops fetching.

    Nothing is truncated, because no fetcher starts; but Fluss truncates to the high watermark, as
    under any leader (ReplicaManager.makeFollowers). In the state the broker follows itself.
    """
    led_in = entry_left_behind(s, c, replica)
    lay_down_role(s, c, replica)
    s.known_epoch[replica] = epoch
    if has(c, TRUNCATE_LEADERLESS):
        truncate(s, c, replica, s.hw[replica])
    s.role[replica] = TRUNCATING
    s.known_leader[replica] = replica
    s.cached_epoch[replica] = led_in


def hear_on_return(s: Any, c: Settings, replica: int) -> None:
    """A server that returns to Fluss's coordinator hears that no server leads; then it elects.

    There are two notices, the first with the leader -1. Its loss, or its arrival after the second,
    is not modelled. (CoordinatorEventProcessor.processNewTabletServer)
    """
    if has(c, COORDINATOR) and s.leader == NO_REPLICA and s.known_epoch[replica] < s.epoch:
        follow_nobody(s, c, replica, s.epoch)


def entry_left_behind(s: Any, c: Settings, replica: int) -> int:
    """The epoch that a leader which has written nothing leaves in its cache; NO_EPOCH for none."""
    if has(c, EPOCH_ON_LEADING) and keeps_epochs(c):
        return unwritten_epoch(s, replica)
    return NO_EPOCH
