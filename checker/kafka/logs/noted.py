"""Table of the lines that are shown with what they mean, at their time; no step has to write them.

Read in Kafka's source at 2.4.0, 2.6.0, 2.8.0, 2.8.1, 3.0.0, 3.3.0, 3.6.0, 3.9.1, 4.0.0, 4.1.0,
4.2.0 and 4.3.1. All are at INFO, that of the epochs at WARN.
"""

from __future__ import annotations

import re

from waterline.checker.kafka.logs.observation import Kind
from waterline.checker.kafka.logs.patterns import LIST, NUMBER, PARTITION, LinePattern

_TOPIC_ID = r"topicI[dD]=?,? ?(?P<topic_id>[\w-]{1,40})"


NOTED = (
    LinePattern(
        hint="Partition state has been reset to the latest committed state",
        pattern=re.compile(
            rf"\[Partition {PARTITION} broker=(?P<broker>\d+)\] Failed to alter partition to "
            r"Pending(?P<what>Expand|Shrink)Isr\b.{0,4000}? since the controller rejected the "
            r"request with (?P<error>[A-Z_]{1,60})\. Partition state has been reset"
        ),
        said="{what} of its ISR refused ({error}): its high watermark may stay behind (C43)",
        source="Partition.handleAlterPartitionError; 3.3.0 on",
    ),
    LinePattern(
        hint=" caused truncation of conflicting entries ",
        pattern=re.compile(
            rf"\[LeaderEpochCache {PARTITION}\] New epoch entry EpochEntry\W"
            rf"epoch=(?P<known>{NUMBER}), startOffset=(?P<at>{NUMBER})\W caused truncation of "
            r"conflicting entries (?:ListBuffer|List)?[\[(](?P<dropped>.{0,4000}?)[\])]\. Cache now"
        ),
        said="appends records of epoch {known} at {at} and forgets where other epochs began, "
        "{dropped}: as records of an older epoch do that come late (C45)",
        source="LeaderEpochFileCache.assign; 2.4.0 on",
    ),
    LinePattern(
        hint=" due to leader epoch and offset ",
        pattern=re.compile(
            r"(?:\[ReplicaFetcher replicaId=(?P<broker>\d+), leaderId=(?P<whom>\d+).{0,200}?)?"
            rf"Truncating partition {PARTITION} with \w*TruncationState\(offset=(?P<at>{NUMBER}), "
            rf"completed=(?P<completed>\w+)\) due to leader epoch and offset EpochEndOffset\("
            rf".{{0,200}}?leaderEpoch=(?P<known>{NUMBER}), endOffset=(?P<end>{NUMBER})\)"
        ),
        said="the leader's epoch {known} ends at {end}",
        source="AbstractFetcherThread.maybeTruncateToEpochEndOffsets; 3.3.0 on",
    ),
    LinePattern(
        hint=" because its partition leader epoch ",
        pattern=re.compile(
            rf"\[\w{{0,40}}Log partition={PARTITION}, [^\]]{{1,4000}}\] Skipping batch "
            rf".{{0,9000}}? because its partition leader epoch (?P<known>{NUMBER}) is higher than "
            rf"the replica's current leader epoch (?P<own>{NUMBER})"
        ),
        said="passes over records of epoch {known}, as it follows in {own} (KAFKA-18723)",
        source="UnifiedLog.analyzeAndValidateRecords; 3.9.1 on",
    ),
    LinePattern(
        hint="since clean shutdown file was found",
        pattern=re.compile(r"Skipping recovery (?:for all|of \d+) logs (?:in|from) "),
        said="starts after a proper shutdown",
        source="LogManager.loadLogs; 2.6.0 on",
        is_clean=True,
    ),
    LinePattern(
        hint="since no clean shutdown file was found",
        pattern=re.compile(r"(?:Attempting recovery for all|Recovering \d+) logs (?:in|from) "),
        said="starts after a crash",
        source="LogManager.loadLogs; 2.6.0 on",
        is_clean=False,
    ),
    LinePattern(
        hint="Attempting to recover abandoned future log for ",
        pattern=re.compile(
            rf"Attempting to recover abandoned future log for {PARTITION} at .{{1,4000}}? and "
            r"removing "
        ),
        said="a future log takes the place of its log, however much shorter it is (KAFKA-16082)",
        source="LogManager.recoverAbandonedFutureLogs; 3.7.1 on",
    ),
    LinePattern(
        hint="Setting new leader for topicId ",
        pattern=re.compile(
            rf"Setting new leader for {_TOPIC_ID}, partition (?P<index>\d{{1,9}}) to "
            rf"(?P<elected>{NUMBER}) using ELR"
        ),
        said="elects broker {elected} from the ELR",
        source="PartitionChangeBuilder.tryElection; 4.1.0 on",
    ),
    LinePattern(
        hint=" because its session has timed out",
        pattern=re.compile(
            r"Fencing broker (?P<whom>\d+)(?: at epoch \d+)? because its session has timed out"
        ),
        said="fences broker {whom}, whose session has timed out",
        source="ReplicationControlManager.handleBrokerFenced; 3.0.0 on",
    ),
    LinePattern(
        hint=" to unfence has been granted",
        pattern=re.compile(r"The request from broker (?P<whom>\d+) to unfence has been granted"),
        said="unfences broker {whom}",
        source="BrokerHeartbeatManager.calculateNextBrokerState; 3.0.0 on",
    ),
    LinePattern(
        hint="Removed ELRs from ",
        pattern=re.compile(
            r"Removed ELRs from (?P<count>\d+) partitions (?P<whose>in all topics|of topic \S+?)\."
        ),
        said="clears the ELRs of {count} partitions {whose}: min.insync.replicas was set",
        source="ReplicationControlManager.replay; 4.0.0 on",
    ),
    LinePattern(
        hint="Replayed partition assignment change ",
        pattern=re.compile(
            rf"Replayed partition assignment change PartitionChangeRecord\("
            rf"partitionId=(?P<index>\d{{1,9}}), {_TOPIC_ID},.{{0,4000}}?"
            rf", replicas=(?:null|\[(?P<replicas>{LIST})\])"
            rf", removingReplicas=(?:null|\[(?P<removing>{LIST})\])"
            rf", addingReplicas=(?:null|\[(?P<adding>{LIST})\])"
        ),
        said="reassigns replicas: {replicas}; adding {adding}, removing {removing}",
        source="ReplicationControlManager.replay; 3.0.0 on",
        kind=Kind.REASSIGNS,
    ),
    LinePattern(
        hint="eassign",
        pattern=re.compile(
            rf"Leader {NUMBER} for partition {PARTITION} being reassigned, is (?:not|already) in "
            rf"the new list of replicas (?P<replicas>{LIST})"
            rf"|Target replicas (?:List|ArrayBuffer|Vector)?\(?(?P<targets>{LIST})\)? have all "
            r"caught up with the leader for reassigning partition (?P<ended>[\w.-]{1,270})"
        ),
        said="reassigns replicas",
        source="KafkaController.onPartitionReassignment; 2.4.0 to 3.9.1",
        kind=Kind.REASSIGNS,
    ),
)
