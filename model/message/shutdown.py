"""A controlled shutdown: leadership is moved first, then the process ends with everything on disk.

(KafkaController.shutdownBroker, KafkaServer.controlledShutdown, LogManager.shutdown; under KRaft
BrokerLifecycleManager.)
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.controller import candidates, fence_limit, take_out, unavailable
from waterline.model.message.features import KRAFT, has
from waterline.model.message.process import stop
from waterline.model.message.settings import Settings
from waterline.model.message.terms import contains, with_member


def can_begin_shutdown(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs, and the controller has it."""
    return s.up[replica] == 1 and not contains(unavailable(s), replica)


def others_can_do_without(s: Any, c: Settings, replica: int) -> bool:
    """True if another replica is in sync, to lead instead of it, or to go on leading."""
    return candidates(s, c, with_member(unavailable(s), replica)) & s.isr != 0


def begin_shutdown_limit(s: Any, c: Settings, replica: int) -> int:
    """Leaving the ISR may start an epoch."""
    if has(c, KRAFT) or others_can_do_without(s, c, replica):
        return fence_limit(s, c, replica)
    return limits.WITHIN


def begin_shutdown(s: Any, c: Settings, replica: int) -> None:
    """The controller takes the broker out of the ISR and of leadership, if others are in sync.

    If it is the last in sync: with ZooKeeper the request fails and the broker stops all the same,
    after retries (controlled.shutdown.max.retries); under KRaft it loses leadership, and the next
    leader can only come from the ELR or an unclean election.
    (ReplicationControlManager.handleBrokerInControlledShutdown)
    """
    gives_up = has(c, KRAFT) or others_can_do_without(s, c, replica)
    s.stopping = with_member(s.stopping, replica)
    if gives_up:
        take_out(s, c, replica)


def can_stop(s: Any, c: Settings, replica: int) -> bool:
    """A broker has begun to shut down."""
    return s.up[replica] == 1 and contains(s.stopping, replica)


def stop_cleanly(s: Any, c: Settings, replica: int) -> None:
    """Logs are flushed, the high watermark is checkpointed, the process ends.

    The broker will say so when it registers again (KIP-966). It has closed its session, so that it
    cannot come back before the controller has noticed.
    """
    s.checkpoint[replica] = s.hw[replica]
    s.durable[replica] = s.leo[replica]
    stop(s, c, replica)
