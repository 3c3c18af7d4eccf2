"""What can become of a broker's disk: power fails before data is flushed, the disk is replaced, the
log is moved to another directory.

Kafka does not flush a record before it acknowledges it (log.flush.interval.messages is never
reached by default): durability is replication. Any suffix of a log may be lost, but for what is
known to have survived an earlier power loss, or was flushed by a shutdown.
"""

from __future__ import annotations

from typing import Any

from model.message.epochs import unwritten_epoch
from model.message.features import ELR, EPOCH_ON_LEADING, MOVED_LOG_KEEPS_EPOCHS, has
from model.message.process import die
from model.message.roles import follows
from model.message.settings import Settings
from model.message.terms import (
    CLEAN,
    DISK_LOSS_OUT_OF_SYNC,
    IDLE,
    LEADER,
    NO_EPOCH,
    WITHOUT_DIRECTORY,
    contains,
)
from model.message.truncation import keeps_epochs, truncate


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


def can_take_directory(s: Any, c: Settings, replica: int) -> bool:
    """A broker with several log directories has shut down properly, and its replica has something.

    After a crash it would be as a lost disk: the broker leaves the ELR.
    """
    if s.up[replica] == 1 or s.unclean[replica] != CLEAN:
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


def can_move_directory(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs, and the copy of its log lacks something that the log has.

    Its own fetch is not on its way: what that carries is not written down.
    """
    if s.up[replica] == 0 or (follows(s, replica) and s.fetch[replica] != IDLE):
        return False
    return s.durable[replica] > 0 or lacks_entry(s, c, replica)


def lacks_entry(s: Any, c: Settings, replica: int) -> bool:
    """Whether the epoch cache has an entry without a record, which a copy of the log has not."""
    if not has(c, EPOCH_ON_LEADING) or has(c, MOVED_LOG_KEEPS_EPOCHS) or not keeps_epochs(c):
        return False
    return unwritten_epoch(s, replica) != NO_EPOCH


def move_directory(s: Any, c: Settings, replica: int) -> None:
    """The log is replaced by its copy in another directory, whose epoch cache knows records alone.

    The copy is made by fetching from the log, and takes over its high watermark; nobody flushes it
    (KIP-113, AlterReplicaLogDirs; Partition.maybeReplaceCurrentWithFutureReplica,
    LogManager.replaceCurrentWithFutureLog; KAFKA-20961).
    """
    if lacks_entry(s, c, replica):
        if s.role[replica] == LEADER:
            s.entry_lost[replica] = 1
        else:
            s.cached_epoch[replica] = NO_EPOCH
    s.durable[replica] = 0
