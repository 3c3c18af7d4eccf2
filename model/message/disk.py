"""What can become of a broker's disk: power fails before data is flushed, the disk is replaced.

Kafka does not flush a record before it acknowledges it (log.flush.interval.messages is never
reached by default): durability is replication. Any suffix of a log may be lost, but for what is
known to have survived an earlier power loss, or was flushed by a shutdown.
"""

from __future__ import annotations

from typing import Any

from model.message.process import die
from model.message.settings import Settings
from model.message.terms import DISK_LOSS_OUT_OF_SYNC, contains
from model.message.truncation import truncate


def can_lose_power(s: Any, c: Settings, replica: int, end: int) -> bool:
    """A running broker's machine may fail; records from `end` on are not on its disk yet.

    If nothing is lost it is a crash of the process.
    """
    return s.up[replica] == 1 and s.durable[replica] <= end < s.leo[replica]


def lose_power(s: Any, c: Settings, replica: int, end: int) -> None:
    """The machine fails: a crash that takes the log from `end` on. The checkpoint is on disk."""
    die(s, c, replica)
    truncate(s, c, replica, end)
    s.durable[replica] = end


def can_lose_disk(s: Any, c: Settings, replica: int) -> bool:
    """A running broker has something on its disk.

    Where only brokers out of sync may lose theirs, it is not in the controller's ISR.
    """
    if c.disk_loss == DISK_LOSS_OUT_OF_SYNC and contains(s.isr, replica):
        return False
    return s.up[replica] == 1 and (s.leo[replica] > 0 or s.checkpoint[replica] > 0)


def lose_disk(s: Any, c: Settings, replica: int) -> None:
    """The broker is down and its disk is replaced by an empty one."""
    die(s, c, replica)
    truncate(s, c, replica, 0)
    s.checkpoint[replica] = 0


def can_lose_checkpoint(s: Any, c: Settings, replica: int) -> bool:
    """A broker is down that had checkpointed a high watermark."""
    return s.up[replica] == 0 and s.checkpoint[replica] > 0


def lose_checkpoint(s: Any, c: Settings, replica: int) -> None:
    """The file with the high watermarks is gone or without this partition (KAFKA-1647)."""
    s.checkpoint[replica] = 0
