"""A log is moved to another directory of its broker (KIP-113): at once, or step by step.

Step by step there is a future log, a second log of the partition on the broker. A thread of its own
copies it from the log, as a follower copies from a leader: it asks the log where its last epoch
ends, truncates, and fetches. Once both logs have the same end the future log becomes the log
(ReplicaAlterLogDirsThread, LocalLeaderEndPoint, Partition). Nothing but ends is compared then, and
the fetcher of a follower goes on with the last epoch that it fetched. Under KRaft the controller
hears of the new directory before (KIP-858).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import last_fetched_epoch, latest_epoch, unwritten_epoch
from waterline.model.message.features import (
    EPOCH_ON_LEADING,
    MOVED_LOG_KEEPS_EPOCHS,
    NEW_DIRECTORY_EMPTIES_ELR,
    PROMOTION_COMPARES_EPOCHS,
    RECOVERS_FUTURE_LOG,
    RECOVERY_COMPARES_ENDS,
    has,
)
from waterline.model.message.partition_state import outdate_leader
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    COPIES,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_FUTURE_LOG,
    NO_RECORD,
    NO_ROLE,
    TRUNCATE_BY_EPOCH,
    TRUNCATES,
    UNKNOWN_OFFSET,
)
from waterline.model.message.truncation import end_offset_for, keeps_epochs


def can_move_directory(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs, and the copy of its log lacks something that the log has.

    Its own fetch is not on its way: what that carries is not written down.
    """
    if s.up[replica] == 0 or (follows(s, replica) and s.fetch[replica] != IDLE):
        return False
    return s.durable[replica] > 0 or lacks_entry(s, c, replica)


def lacks_entry(s: Any, c: Settings, replica: int) -> bool:
    """True if the epoch cache has an entry without a record, which a copy of the log lacks."""
    if not has(c, EPOCH_ON_LEADING) or has(c, MOVED_LOG_KEEPS_EPOCHS) or not keeps_epochs(c):
        return False
    return unwritten_epoch(s, replica) != NO_EPOCH


def move_directory(s: Any, c: Settings, replica: int) -> None:
    """A copy in another directory replaces the log; its epoch cache covers records alone.

    The copy is made by fetching from the log, and takes over its high watermark; it is not flushed
    (KIP-113, AlterReplicaLogDirs; Partition.maybeReplaceCurrentWithFutureReplica,
    LogManager.replaceCurrentWithFutureLog; KAFKA-20961).
    """
    if lacks_entry(s, c, replica):
        if s.role[replica] == LEADER:
            s.entry_lost[replica] = 1
        else:
            s.cached_epoch[replica] = NO_EPOCH
    s.durable[replica] = 0


def is_online(s: Any, replica: int) -> bool:
    """True if the broker runs and has taken up the partition."""
    return s.up[replica] == 1 and s.role[replica] != NO_ROLE


def can_start(s: Any, c: Settings, replica: int) -> bool:
    """A broker that has taken up the partition is not moving its log already."""
    return is_online(s, replica) and s.future[replica] == NO_FUTURE_LOG


def start(s: Any, c: Settings, replica: int) -> None:
    """The operator moves the log to another directory: an empty future log, to be copied.

    (ReplicaManager.alterReplicaLogDirs)
    """
    s.future[replica] = COPIES


def can_copy(s: Any, c: Settings, replica: int) -> bool:
    """The future log is to be copied, and its end or its high watermark is not the log's."""
    if not is_online(s, replica) or s.future[replica] != COPIES:
        return False
    end = s.future_leo[replica]
    return bool(end != s.leo[replica] or s.future_hw[replica] != min(s.hw[replica], end))


def copy(s: Any, c: Settings, replica: int) -> None:
    """Copy one record, if there is any, and the high watermark.

    A future log that is longer than the log is out of range, and is cut at the log's end.
    (ReplicaAlterLogDirsThread.processPartitionData; AbstractFetcherThread.fetchOffsetAndTruncate)
    """
    end = s.future_leo[replica]
    if end > s.leo[replica]:
        cut_future_log(s, replica, s.leo[replica])
    else:
        if end < s.leo[replica]:
            s.future_log[replica, end] = s.log[replica, end]
            s.future_leo[replica] = end + 1
        s.future_hw[replica] = min(s.hw[replica], s.future_leo[replica])


def can_truncate(s: Any, c: Settings, replica: int) -> bool:
    """The future log's thread has still to find out where to cut."""
    return is_online(s, replica) and s.future[replica] == TRUNCATES


def truncate_future_log(s: Any, c: Settings, replica: int) -> None:
    """Ask the log where the future log's last epoch ends, and cut there.

    Where the log cannot say: at the offset that the log was last cut at, or the future log's high
    watermark
    (AbstractFetcherThread.getOffsetTruncationState, LocalLeaderEndPoint.fetchEpochEndOffsets).
    """
    cut = s.future_cut[replica]
    agreed = 1
    latest = latest_future_epoch(s, replica)
    if latest != NO_EPOCH:
        epoch, end = end_offset_for(s, c, replica, latest)
        if end != UNKNOWN_OFFSET:
            cut, agreed = future_truncation_point(s, c, replica, epoch, end)
    cut_future_log(s, replica, cut)
    if agreed == 1:
        s.future[replica] = COPIES
        s.future_cut[replica] = 0
    else:
        s.future_cut[replica] = cut


def latest_future_epoch(s: Any, replica: int) -> int:
    """The epoch of the future log's last record, NO_EPOCH where it is empty."""
    end = s.future_leo[replica]
    if end == 0:
        return NO_EPOCH
    epoch: int = s.record_epoch[s.future_log[replica, end - 1] - 1]
    return epoch


def future_truncation_point(
    s: Any, c: Settings, replica: int, epoch: int, end: int
) -> tuple[int, int]:
    """The offset where the future log is cut if `epoch` ends at `end`, and 1 for the last cut.

    As for a follower: the lesser of `end` and the end of that epoch in the future log. Without that
    epoch it is cut at the end of the largest smaller one, and asks again.
    """
    length = s.future_leo[replica]
    least = latest_future_epoch(s, replica)
    if c.truncation == TRUNCATE_BY_EPOCH or epoch >= least:
        return min(end, length), 1
    own_end = length
    for i in range(length):
        offset = length - 1 - i
        own = s.record_epoch[s.future_log[replica, offset] - 1]
        if own < least:
            if own < epoch:
                return own_end, 0
            if own == epoch:
                return min(end, own_end), 1
            least = own
            own_end = offset
        elif own == least and own_end == offset + 1:
            own_end = offset
    return min(end, own_end), 1


def can_assign_directory(s: Any, c: Settings, replica: int) -> bool:
    """The future log has caught up, and metadata has the former directory."""
    if not has(c, RECOVERS_FUTURE_LOG) or s.future_assigned[replica] == 1:
        return False
    return has_caught_up(s, replica)


def assign_directory(s: Any, c: Settings, replica: int) -> None:
    """The controller takes the future log's directory for the replica's (AssignReplicasToDirs).

    Until 4.2 that empties the ELR, by mistake. The broker takes the assignment back, now and then,
    as long as its log is in the other directory, and is still let promote the future log; then a
    crash does less, so that this is left out.
    (ReplicationControlManager.handleAssignReplicasToDirs,
    ReplicaManager.maybeUpdateTopicAssignment)
    """
    s.future_assigned[replica] = 1
    if has(c, NEW_DIRECTORY_EMPTIES_ELR):
        s.elr = 0
    outdate_leader(s)


def has_caught_up(s: Any, replica: int) -> bool:
    """True if both logs have the same end (Partition.runCallbackIfFutureReplicaCaughtUp)."""
    copies = is_online(s, replica) and s.future[replica] == COPIES
    return copies and s.future_leo[replica] == s.leo[replica]


def can_promote(s: Any, c: Settings, replica: int) -> bool:
    """The future log has caught up, and the broker's own fetch is not in flight.

    The model does not record that fetch's content. If the controller knows directories, it must
    have accepted the new one before (ReplicaAlterLogDirsThread.maybePromoteFutureReplica).
    """
    if has(c, RECOVERS_FUTURE_LOG) and s.future_assigned[replica] == 0:
        return False
    if follows(s, replica) and s.fetch[replica] != IDLE:
        return False
    return has_caught_up(s, replica)


def promote(s: Any, c: Settings, replica: int) -> None:
    """The future log takes the log's place (Partition.maybeReplaceCurrentWithFutureReplica).

    Its epoch cache covers records alone, and it is not flushed. By a proposed rule a future log
    that ends in another epoch than the log is truncated instead.
    """
    if has(c, PROMOTION_COMPARES_EPOCHS) and differs_at_end(s, replica):
        truncate_to_high_watermark(s, replica)
    else:
        fetched = last_fetched_epoch(s, c, replica)
        move_directory(s, c, replica)
        take_place(s, replica)
        if follows(s, replica) and fetched != latest_epoch(s, c, replica):
            s.fetched_epoch[replica] = fetched


def differs_at_end(s: Any, replica: int) -> bool:
    """True if the last records of two logs of the same length are of different epochs."""
    end = s.leo[replica]
    if end == 0:
        return False
    last = s.record_epoch[s.log[replica, end - 1] - 1]
    return bool(last != latest_future_epoch(s, replica))


def truncate_to_high_watermark(s: Any, replica: int) -> None:
    """The future log's thread is to find out where to cut; at the high watermark, if it cannot."""
    s.future[replica] = TRUNCATES
    s.future_cut[replica] = s.future_hw[replica]


def hear_of_epoch(s: Any, c: Settings, replica: int) -> None:
    """A leader epoch that is new to the broker begins: the future log is truncated anew.

    (ReplicaManager.maybeAddLogDirFetchers, AbstractFetcherThread.partitionFetchState)
    """
    if c.future_log == 1 and s.future[replica] != NO_FUTURE_LOG:
        truncate_to_high_watermark(s, replica)


def cut_future_log(s: Any, replica: int, end: int) -> None:
    """Remove every record of the future log at or above `end`."""
    for offset in range(end, s.future_leo[replica]):
        s.future_log[replica, offset] = NO_RECORD
    s.future_leo[replica] = min(s.future_leo[replica], end)
    s.future_hw[replica] = min(s.future_hw[replica], end)


def clear_future_log(s: Any, replica: int) -> None:
    """The broker has no future log any more, and metadata has the log's own directory."""
    cut_future_log(s, replica, 0)
    s.future[replica] = NO_FUTURE_LOG
    s.future_cut[replica] = 0
    s.future_assigned[replica] = 0


def keep_future_log(s: Any, replica: int) -> None:
    """The broker's process ends: what is left of the future log's high watermark is on disk.

    It was written no later than that of the log.
    """
    s.future_hw[replica] = min(s.future_hw[replica], s.checkpoint[replica])


def take_place(s: Any, replica: int) -> None:
    """The future log's records become the log's, and the future log disappears."""
    for offset in range(s.records):
        s.log[replica, offset] = s.future_log[replica, offset]
    s.leo[replica] = s.future_leo[replica]
    clear_future_log(s, replica)


def recover_future_log(s: Any, c: Settings, replica: int) -> None:
    """A broker that starts puts a future log in the log's place if metadata has its directory.

    End offsets are not compared, but by a proposed rule. Each directory has its own checkpoint.
    (LogManager.recoverAbandonedFutureLogs, KAFKA-16082)
    """
    if c.future_log == 0 or s.future_assigned[replica] == 0:
        return
    if has(c, RECOVERY_COMPARES_ENDS) and s.future_leo[replica] < s.leo[replica]:
        s.future_assigned[replica] = 0
        return
    s.checkpoint[replica] = s.future_hw[replica]
    take_place(s, replica)
