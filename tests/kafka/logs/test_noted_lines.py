"""Lines that are shown with what they mean, each as a release of Kafka prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from waterline.checker.kafka.logs.answer import answer_of
from waterline.checker.kafka.logs.evidence import evidence_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.observation import CONTROLLER, Kind, Place
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.logs.scanning import Line, observations_in
from waterline.checker.kafka.logs.timeline import timeline

ID = "kxt8kSqWTfC9Di39ZkFYXQ"
RECORDED = Path(__file__).parent / "recorded"
LINES = {
    "3.3.0": (
        "[Partition t-0 broker=0] Failed to alter partition to PendingExpandIsr(newInSyncReplicaId="
        "1, sentLeaderAndIsr=LeaderAndIsr(leader=0, leaderEpoch=2, isr=List(0, 1), "
        "leaderRecoveryState=RECOVERED, partitionEpoch=4), leaderRecoveryState=RECOVERED, "
        "lastCommittedState=CommittedPartitionState(isr=Set(0), leaderRecoveryState=RECOVERED)) "
        "since the controller rejected the request with INELIGIBLE_REPLICA. Partition state has "
        "been reset to the latest committed state CommittedPartitionState(isr=Set(0), "
        "leaderRecoveryState=RECOVERED).",
        ("t-0", 0),
        "Expand of its ISR refused (INELIGIBLE_REPLICA): its high watermark may stay behind (C43)",
    ),
    "2.4.0, epochs": (
        "[LeaderEpochCache t-0] New epoch entry EpochEntry(epoch=3, startOffset=5) caused "
        "truncation of conflicting entries ListBuffer(EpochEntry(epoch=4, startOffset=4)). Cache "
        "now contains 2 entries.",
        ("t-0", None),
        "appends records of epoch 3 at 5 and forgets where other epochs began, "
        "EpochEntry(epoch=4, startOffset=4): as records of an older epoch do that come late (C45)",
    ),
    "4.2.0, epochs": (
        "[LeaderEpochCache t-0] New epoch entry EpochEntry[epoch=3, startOffset=5] caused "
        "truncation of conflicting entries [EpochEntry[epoch=4, startOffset=4], EpochEntry[epoch=5,"
        " startOffset=9]]. Cache now contains 2 entries.",
        ("t-0", None),
        "appends records of epoch 3 at 5 and forgets where other epochs began, EpochEntry[epoch=4, "
        "startOffset=4], EpochEntry[epoch=5, startOffset=9]: as records of an older epoch do that "
        "come late (C45)",
    ),
    "4.3.1, truncation": (
        "[ReplicaFetcher replicaId=1, leaderId=0, fetcherId=0] Truncating partition t-0 with "
        "TruncationState(offset=0, completed=true) due to leader epoch and offset EpochEndOffset("
        "errorCode=0, partition=0, leaderEpoch=0, endOffset=0)",
        ("t-0", 1),
        "the leader's epoch 0 ends at 0",
    ),
    "3.9.1, batch": (
        "[UnifiedLog partition=t-0, dir=/d] Skipping batch RecordBatch(magic=2, offsets=[7, 8], "
        "sequence=[-1, -1], partitionLeaderEpoch=5, isTransactional=false, isControlBatch=false, "
        "compression=none, timestampType=CreateTime, crc=1) from an origin of REPLICATION because "
        "its partition leader epoch 5 is higher than the replica's current leader epoch 4",
        ("t-0", None),
        "passes over records of epoch 5, as it follows in 4 (KAFKA-18723)",
    ),
    "2.6.0, shutdown": (
        "Skipping recovery for all logs in /d since clean shutdown file was found",
        ("", None),
        "starts after a proper shutdown",
    ),
    "3.6.0, shutdown": (
        "Skipping recovery of 52 logs from /d since clean shutdown file was found",
        ("", None),
        "starts after a proper shutdown",
    ),
    "2.6.0, crash": (
        "Attempting recovery for all logs in /d since no clean shutdown file was found",
        ("", None),
        "starts after a crash",
    ),
    "3.6.0, crash": (
        "Recovering 52 logs from /d since no clean shutdown file was found",
        ("", None),
        "starts after a crash",
    ),
    "4.3.1, future log": (
        "Attempting to recover abandoned future log for t-0 at Log(dir=/e/t-0.7d2f-future, topic=t,"
        " partition=0, highWatermark=1, lastStableOffset=1, logStartOffset=0, logEndOffset=1) and "
        "removing Log(dir=/d/t-0, topic=t, partition=0, highWatermark=4, lastStableOffset=4, "
        "logStartOffset=0, logEndOffset=4)",
        ("t-0", None),
        "a future log takes the place of its log, however much shorter it is (KAFKA-16082)",
    ),
    "3.9.1, fenced": (
        "[QuorumController id=3000] Fencing broker 2 because its session has timed out.",
        ("", CONTROLLER),
        "fences broker 2, whose session has timed out",
    ),
    "4.3.1, fenced": (
        "[QuorumController id=3000] Fencing broker 2 at epoch 19 because its session has timed "
        "out.",
        ("", CONTROLLER),
        "fences broker 2, whose session has timed out",
    ),
    "3.0.0, unfenced": (
        "[QuorumController id=3000] The request from broker 2 to unfence has been granted because "
        "it has caught up with the offset of its register broker record 912.",
        ("", CONTROLLER),
        "unfences broker 2",
    ),
    "4.0.0, cleared": (
        "[QuorumController id=3000] Removed ELRs from 3 partitions of topic t.",
        ("", CONTROLLER),
        "clears the ELRs of 3 partitions of topic t: min.insync.replicas was set",
    ),
    "4.0.0, reassigned": (
        "[QuorumController id=3000] Replayed partition assignment change PartitionChangeRecord("
        f"partitionId=0, topicId={ID}, isr=null, leader=-2, replicas=[2, 0, 1], removingReplicas="
        "null, addingReplicas=[2], leaderRecoveryState=-1, directories=null, "
        "eligibleLeaderReplicas=null, lastKnownElr=null) for topic t",
        (f"{ID}-0", CONTROLLER),
        "reassigns replicas: 2, 0, 1; adding 2, removing none",
    ),
    "3.9.1, reassigned": (
        "[Controller id=0] Leader 0 for partition t-0 being reassigned, is already in the new list "
        "of replicas 0,2 and is alive",
        ("t-0", CONTROLLER),
        "reassigns replicas",
    ),
    "2.4.0, ended": (
        "[Controller id=0] Target replicas ArrayBuffer(0, 2) have all caught up with the leader "
        "for reassigning partition t-0",
        ("t-0", CONTROLLER),
        "reassigns replicas",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_means_this(name: str) -> None:
    line, (partition, broker), said = LINES[name]
    place = Place("server.log", 1, line)
    [found] = [s for s in observations_in(Line(line, None, ""), place, None, 1) if s.seen.said]

    assert (found.partition, found.broker, found.seen.said) == (partition, broker, said)


def test_a_real_follower_is_shown_with_what_its_leader_answered() -> None:
    """In its lane, between the lines that it stands between in the file."""
    logs = read_logs([RECORDED / "3.9.1-c21"])
    found = answer_of(
        logs, "t-0", Circumstances(version="truncate-on-fetch", hw_in_response="post")
    )
    events = [e for e in timeline(found.best, found.shown) if e.broker == 1 and e.line is not None]
    kinds = [(e.line.kind, e.line.place.line) for e in events]

    assert kinds[:3] == [(Kind.FOLLOWS, 13), (Kind.NOTES, 15), (Kind.TRUNCATES, 16)]
    assert [e.number == 0 for e in events[:3]] == [False, True, False]


ROLES = """\
[Broker id=1] Follower t-0 starts at leader epoch 0 from offset 0 with partition epoch 0 and high \
watermark 0. Current leader is 0.
[BrokerServer id=1] shutting down
{start}
[Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 0
[Broker id=1] Follower t-0 starts at leader epoch 0 from offset 0 with partition epoch 1 and high \
watermark 0. Current leader is 0.
"""
LEADER = (
    "[Broker id=0] Leader t-0 starts at leader epoch 0 from offset 0 with partition epoch 0, high "
    "watermark 0, ISR [0,1] . Previous leader epoch was -1.\n[BrokerServer id=0] started\n"
)
CRASHED = "Recovering 52 logs from /d since no clean shutdown file was found"
SHUT_DOWN = "Skipping recovery of 52 logs from /d since clean shutdown file was found"


@pytest.mark.parametrize(("start", "ends"), [(CRASHED, "Crash"), (SHUT_DOWN, "Stop")])
def test_a_start_after_a_crash_is_the_start_of_who_did_not_shut_down(
    start: str, ends: str, tmp_path: Path
) -> None:
    """Though it had begun to: with a file of a proper shutdown the shutdown came to its end."""
    (tmp_path / "server-1.log").write_text(ROLES.format(start=start))
    (tmp_path / "server-0.log").write_text(LEADER)
    logs = read_logs([tmp_path])
    found = answer_of(logs, "t-0", Circumstances(version="elr", hw_in_response="post"))

    [loaded] = [o for o in logs.of("t-0")[1] if o.kind is Kind.LOADS]
    assert loaded.is_clean is (start == SHUT_DOWN)
    assert found.fits
    steps = [name for name, _ in found.shown.calls]
    assert ends in steps
    assert [seen.said for seen in evidence_of(logs.of("t-0")).noted] == [
        "starts after a crash" if start == CRASHED else "starts after a proper shutdown"
    ]
