"""Faults of a broker's disk: power fails before data is flushed, the disk is replaced, a log
directory fails or is taken out. Moves between directories: `model.message.directories`.

Kafka does not flush a record before it acknowledges it (log.flush.interval.messages is never
reached by default): durability is replication. Any suffix of a log may be lost, except for what is
known to have survived an earlier power loss, or was flushed by a shutdown.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.directories import clear_future_log
from waterline.model.message.features import ELR, has
from waterline.model.message.process import die
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    CLEAN,
    DIRECTORY_FAILED,
    DISK_LOSS_OUT_OF_SYNC,
    WITHOUT_DIRECTORY,
    contains,
)
from waterline.model.message.truncation import truncate


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
    if c.future_log == 1:
        clear_future_log(s, replica)


def fail_directory(s: Any, c: Settings, replica: int) -> None:
    """The log directory with the replica fails; its broker runs on for all other partitions.

    For this partition it is a crash: the broker does not act for it until it is started again, and
    the controller takes it out (LogDirFailureHandler, KIP-112; under KRaft
    ReplicationControlManager.handleDirectoriesOffline, KIP-858). A failed directory has no mark of
    a clean shutdown, so a broker that comes back with it leaves the ELR; one that comes back
    without it need not (`can_take_directory`).
    """
    die(s, c, replica)
    if has(c, ELR) and c.taken_directories > 0:
        s.unclean[replica] = DIRECTORY_FAILED


def can_take_directory(s: Any, c: Settings, replica: int) -> bool:
    """A broker with several log directories has shut down properly, and its replica has something.

    It may have lost the directory with the replica before. After a crash it would be as a lost
    disk: the broker leaves the ELR.
    """
    if s.up[replica] == 1 or s.unclean[replica] not in (CLEAN, DIRECTORY_FAILED):
        return False
    return s.leo[replica] > 0 or s.checkpoint[replica] > 0


def take_directory(s: Any, c: Settings, replica: int) -> None:
    """The operator takes the directory with the replica out of log.dirs.

    The broker will begin with an empty log, in another directory. That one says that the broker has
    shut down properly, so that it stays eligible, but in some releases
    (LogManager.readBrokerEpochFromCleanShutdownFiles, ClusterControlManager.registerBroker;
    `model.message.partition_state.elr_on_return`).
    """
    truncate(s, c, replica, 0)
    s.checkpoint[replica] = 0
    if has(c, ELR):
        s.unclean[replica] = WITHOUT_DIRECTORY


def can_lose_checkpoint(s: Any, c: Settings, replica: int) -> bool:
    """A broker is down that had checkpointed a high watermark."""
    return s.up[replica] == 0 and s.checkpoint[replica] > 0


def lose_checkpoint(s: Any, c: Settings, replica: int) -> None:
    """The file with the high watermarks is gone or without this partition (KAFKA-1647)."""
    s.checkpoint[replica] = 0
