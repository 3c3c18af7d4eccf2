"""Entries C55 to C64: reassignments, log directories, and what empties the ELR."""

from __future__ import annotations

from waterline.checker.kafka.scenarios.scenario import Scenario

_KEEPS_ELR = "elr-without-new-directory-empties-elr"
_ELR_4_3 = (
    f"{_KEEPS_ELR}-with-last-known-leader-with-completes-when-added-with-shrink-waits-for-targets"
)
_ZOOKEEPER_3_9 = (
    "truncate-on-fetch-with-alter-partition-with-maximal-isr-with-fenced-check"
    "-with-hw-needs-min-isr-with-append-checks-epoch"
)
_TWO = {"replicas": 2, "records": 1, "restarts": 0}

REASSIGNMENTS = (
    Scenario(
        number="C55",
        name="removed-replica-in-elr",
        title="A replica that a reassignment took away is elected with an empty log",
        source="found by this model; KIP-966, PartitionChangeBuilder.maybePopulateTargetElr",
        story="The ELR is made of the former ISR and is not cut down to the replicas that are "
        "left. A reassignment that is cancelled, or since 4.3 one that ends, while a replica that "
        "stays lags, leaves an ISR below min.insync.replicas: whoever it removes goes into the "
        "ELR, and deletes its log. Added again that broker is in the ELR with nothing, and is "
        "elected, cleanly, once the last member of the ISR is gone.",
        claim="acknowledged_durable",
        options={
            **_TWO,
            "replicas": 3,
            "assigned": 2,
            "restarts": 1,
            "reassignments": 2,
            "min-insync-replicas": 2,
        },
        falls=("elr", _ELR_4_3),
        stands=("elr-with-elr-only-replicas",),
        remark="By a cancellation until 4.2, by the end of a reassignment since 4.3 (KAFKA-19975). "
        "Never add a replica back while the ISR is below min.insync.replicas and the ELR has that "
        "broker: kafka-topics shows both (docs/losses.md).",
        precaution="do not add replicas to a partition that kafka-topics.sh --bootstrap-server "
        "HOST:PORT --describe --under-min-isr-partitions lists. Never add a broker that stands in "
        "its Elr.",
        sign="kafka-topics.sh --describe shows a broker in Elr that is no replica. Once that one "
        'leads, the others log "Truncating to offset", below what was acknowledged, and some "below'
        ' high watermark".',
    ),
    Scenario(
        number="C56",
        name="replication-factor-down-and-up",
        title="The replication factor goes down and up, and one graceful restart loses records",
        source="found by this model; ReplicationControlManager.getTopicEffectiveMinIsr",
        story="A partition other than partition 0 is left with one replica: the others go into the "
        "ELR, and the leader goes on acknowledging, for min.insync.replicas is at most the number "
        "of its replicas. The controller goes by the replicas of partition 0: where these are back "
        "already, the ELR stays as the replicas are added again. The only complete replica shuts "
        "down properly while they are copied, and one of them is elected.",
        claim="acknowledged_durable",
        options={
            **_TWO,
            "epochs": 3,
            "shutdowns": 1,
            "reassignments": 2,
            "min-insync-replicas": 2,
            "first-partition-replicas": 2,
        },
        falls=("elr", _ELR_4_3),
        stands=("elr-with-elr-only-replicas", f"{_ELR_4_3}-with-elr-only-replicas", "kip903"),
        remark="No broker fails. The ELR is emptied where all partitions of the topic change in "
        "one request.",
    ),
    Scenario(
        number="C57",
        name="taken-directory",
        title="A broker that comes back without its log directory is elected from the ELR",
        source="found by this model; KIP-858, KIP-966, "
        "LogManager.readBrokerEpochFromCleanShutdownFiles",
        story="A broker with several log directories shuts down properly, and the directory with "
        "the replica is taken out of log.dirs. Its other directories say that it shut down "
        "properly, so that it stays in the ELR, and begins with an empty log. The last member of "
        "the ISR shuts down as well, and the empty replica is elected.",
        claim="acknowledged_durable",
        options={**_TWO, "shutdowns": 2, "taken-directories": 1, "min-insync-replicas": 2},
        falls=(_KEEPS_ELR, _ELR_4_3),
        stands=("elr", f"{_ELR_4_3}-with-lost-directory-is-unclean"),
        remark="One disk is lost, and min.insync.replicas is 2. From 4.0 to 4.2 the report of the "
        "new directory emptied the ELR, by mistake; the last known leader may then be elected.",
        precaution="remove or wipe a log directory of a broker only while every partition in it "
        "has min.insync.replicas members in sync on other brokers.",
        sign='a broker whose log directory is new leads, and another logs "Truncating", to an '
        'offset "below high watermark".',
    ),
    Scenario(
        number="C58",
        name="stale-member-of-the-elr",
        title="A broker in the ELR that is no replica keeps the partition without a leader",
        source="found by this model; PartitionChangeBuilder.canElectLastKnownLeader",
        story="As C55 until the removal. The last member of the ISR crashes and comes back with "
        "everything. It leaves the ELR, as after any crash, and is not elected as the last known "
        "leader, because the ELR is not empty: it has a broker that is no replica, and is never "
        "elected.",
        claim="leader_possible",
        options={
            **_TWO,
            "restarts": 1,
            "reassignments": 1,
            "min-insync-replicas": 2,
            "first-partition-replicas": 2,
        },
        falls=("elr-with-last-known-leader", _ELR_4_3),
        stands=("elr-with-last-known-leader-with-elr-only-replicas", "kip903"),
        remark="An unclean election ends it. To add the broker again is answered "
        "UNKNOWN_SERVER_ERROR while it is alive.",
    ),
    Scenario(
        number="C59",
        name="overridden-reassignment",
        title="A reassignment that is overridden with the former replicas never ends",
        source="found by this model; KAFKA-19975 (4.3.0), PartitionReassignmentReplicas",
        story="A replica is being added, and the operator asks for the replicas of before. The "
        "controller keeps the set of those being added where the new one is empty: the same broker "
        "is added and removed, and no ISR without it has it.",
        claim="reassignment_ends",
        options={**_TWO, "assigned": 1, "reassignments": 2},
        falls=("kraft", "kip903", _ELR_4_3),
        stands=("elr",),
        remark="No record is lost. A cancellation ends it. From 3.8 to 4.2 it ends at once, for "
        "only the targets had to be in sync (KAFKA-15665).",
    ),
    Scenario(
        number="C60",
        name="late-booking-and-reassignment",
        title="A late note of a fetch counts for a replica that was deleted and added again",
        source="found by this model; as C47, Partition.fetchRecords",
        story="As C47, without any election: a fetch is checked, its replica is removed, deletes "
        "its log and is added again, and then the offset is noted. The leader takes the empty "
        "replica for one that has everything, and the high watermark goes by it.",
        claim="acknowledged_durable",
        options={**_TWO, "epochs": 3, "reassignments": 2, "late-booking": "by-replica"},
        falls=("kip903", "kip903-with-fresh-remote-leo", "kip903-with-fresh-replicas"),
        remark="Of the repairs of C47 only the comparison of epochs covers it (--late-booking "
        "by-epoch). In the model alone: not tried on brokers.",
    ),
    Scenario(
        number="C61",
        name="future-log-keeps-a-record",
        title="The copy of a log keeps a record that the log has cut, and takes its place",
        source="found by reading Kafka's source, and by this model; KIP-113, KAFKA-10554 (2.8.0), "
        "ReplicaFetcherThread.truncate",
        story="A follower's log is moved to another directory while its log parts from the "
        "leader's. The leader names an epoch that it does not know; it cuts its log for the "
        "time being and goes on. No later truncation comes, and only the last one reaches "
        "the future log, which keeps the record. The log grows to the same end, ends alone "
        "are compared, and the future log takes its place. The fetcher goes on with the "
        "last epoch that it fetched, so that the leader does not see it: the follower "
        "counts as in sync.",
        claim="no_divergence_below_hw",
        options={
            "replicas": 2,
            "records": 3,
            "epochs": 3,
            "restarts": 0,
            "moves": 3,
            "directory-moves": 1,
            "future-log": True,
            "min-insync-replicas": 2,
        },
        falls=("kip903",),
        stands=(
            "kip903-with-truncation-marks-future-log",
            "kip903-with-promotion-compares-epochs",
        ),
        remark="One change of leader more, and an acknowledged record is in no log. The move must "
        "be slower than two changes of leader, one of which a broker has not heard of: a throttled "
        "move and a pause. Until 2.7 a follower asks again after such a cut.",
    ),
    Scenario(
        number="C62",
        name="abandoned-future-log",
        title="A shorter copy takes the log's place as its broker starts",
        source="found by reading Kafka's source, and by this model; KAFKA-16082 (3.7.1, 3.8.0), "
        "LogManager.recoverAbandonedFutureLogs",
        story="A log is moved to another directory. Its copy catches up, and the controller takes "
        "the new directory for the replica's; before the copy has taken the log's place records "
        "are appended to the log alone, and the broker crashes. As it starts it finds the copy in "
        "the directory that metadata has, and puts it in the log's place: the ends of the two are "
        "not compared. It was the last in sync.",
        claim="acknowledged_durable",
        options={**_TWO, "epochs": 3, "restarts": 1, "directory-moves": 1, "future-log": True},
        falls=("kip903-with-recovers-future-log",),
        stands=("kip903-with-recovers-future-log-with-recovery-compares-ends", "kip903"),
        remark="With ELR a proper shutdown in place of the crash does it to a member of the ELR. "
        "The broker takes the assignment back as soon as it reads it, so that the window is short: "
        "0.1 to 1 s a move, and longer while the controller is slow.",
    ),
    Scenario(
        number="C63",
        name="cancelled-while-alone-in-sync",
        title="A cancelled reassignment deletes the only replicas in sync",
        source="found by this model; KIP-455, KafkaController.updateCurrentReassignment",
        story="With ZooKeeper one of the brokers that are being added is in sync and leads, "
        "another copies yet, and the replicas of before lag and leave the ISR. The operator "
        "cancels. Whoever was being added is stopped and deletes its log; that no replica of "
        "before is in sync the controller does not look at.",
        claim="acknowledged_on_disk",
        options={
            **_TWO,
            "replicas": 3,
            "assigned": 1,
            "epochs": 3,
            "moves": 1,
            "reassignments": 1,
        },
        falls=(_ZOOKEEPER_3_9, "kip320"),
        stands=("kip320-without-changeable-reassignment", "kip903"),
        remark="2.4 to 3.9 with ZooKeeper. KRaft refuses the cancellation "
        "(PartitionReassignmentRevert). With min.insync.replicas=2 it takes two brokers that are "
        "added and in sync. Who was deleted stays in the ISR, and is elected if it is added again. "
        "Seen with Kafka's own controller (lab/experiments/with_zookeeper.py).",
    ),
    Scenario(
        number="C64",
        name="written-min-isr",
        title="Writing min.insync.replicas leaves a partition without anybody who may lead",
        source="found by reading Kafka's source; KIP-966, "
        "ConfigurationControlManager.createClearElrRecordsAsNeeded, TopicDelta.maybeClearElr",
        story="The ISR is empty, and the ELR has who may lead once it is back. "
        "min.insync.replicas is written, for the topic or the cluster: the controller empties the "
        "ELR and forgets the last known leader. No broker that comes back is elected.",
        claim="leader_possible",
        options={
            **_TWO,
            "restarts": 1,
            "shutdowns": 1,
            "min-isr-writes": 1,
            "min-insync-replicas": 2,
        },
        falls=("elr-with-last-known-leader", _ELR_4_3),
        stands=("kip903",),
        remark="No record is lost; an unclean election ends it. The cluster's value empties the "
        "ELR of every topic, also where it is written unchanged. Do not write it while a partition "
        "has no leader.",
    ),
)
