"""Tables of the lines that are read: pattern, the class that writes it, the releases that have it.

Read in Kafka's source at 2.4.0, 2.6.0, 2.7.0, 2.8.2, 3.0.0, 3.3.0, 3.6.0, 3.9.1 and 4.2.0, those of
`NOTED` also at 2.8.0, 2.8.1, 4.0.0, 4.1.0 and 4.3.1. A line is found by its message, wherever it
stands, so that any layout of log4j will do. All are at INFO, Kafka's default for these loggers; the
one about epochs is at WARN. Confluent Server names the class of a log MergedLog, or others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from waterline.checker.kafka.deployed.release_text import kafka_of_confluent
from waterline.checker.kafka.logs.observation import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePattern:
    """A message that says something of a partition, or, without `tp` and `index`, of all.

    The groups are named as the fields of `Observation`: `tp` is the partition as Kafka prints it,
    `index` its number in the topic with this id. `said` is the meaning of a line that is shown,
    with groups by name. `is_clean` of a start: the process before it ended by a shutdown.
    """

    pattern: re.Pattern[str]
    source: str
    """The method that writes it, the file, and the releases."""
    hint: str
    """Part of every such line: most lines are passed over by it alone."""
    kind: Kind = Kind.NOTES
    said: str = ""
    is_clean: bool | None = None

    @property
    def is_controllers(self) -> bool:
        """True if a controller writes it."""
        return self.source.split(".")[0] in _CONTROLLERS


_CONTROLLERS = frozenset(
    {"KafkaController", "ReplicationControlManager", "PartitionChangeBuilder"}
    | {"BrokerHeartbeatManager"}
)


NUMBER = r"-?\d{1,19}"
LIST = r"[\d, ]{0,4000}"
_DECISION = rf"(?P<partition_epoch>{NUMBER})"
_WATERMARK = rf"high watermark (?P<high_watermark>{NUMBER})"
_TOPIC_ID = r"(?:Some\()?(?P<topic_id>[\w-]{1,40})\)?,?"
_BETWEEN = r"(?:[^\[\]]{1,120}? )??"
"""Room for a vendor's addition."""
PARTITION = r"(?P<tp>[A-Za-z0-9._-]{1,260}-\d{1,9})"

REGISTRATION = (
    rf"PartitionRegistration\(replicas=\[(?P<replicas>{LIST})\],[^()]*? isr=\[(?P<isr>{LIST})\]"
    rf"(?:, removingReplicas=\[(?P<removing>{LIST})\], addingReplicas=\[(?P<adding>{LIST})\])?"
    rf"[^()]*?(?:\belr=\[(?P<elr>{LIST})\][^()]*?)?\bleader=(?P<leader>{NUMBER}),"
    rf"[^()]*?\bleaderEpoch=(?P<epoch>{NUMBER}), partitionEpoch=(?P<partition_epoch>\d{{1,10}})\)"
)
REQUESTED = (
    rf"LeaderAndIsrPartitionState\([^()]*?\bleader=(?P<leader>{NUMBER}), "
    rf"leaderEpoch=(?P<epoch>{NUMBER}), isr=\[(?P<isr>{LIST})\], "
    rf"(?:zkVersion|partitionEpoch)=(?P<partition_epoch>\d{{1,10}}), "
    rf"replicas=\[(?P<replicas>{LIST})\], addingReplicas=\[(?P<adding>{LIST})\], "
    rf"removingReplicas=\[(?P<removing>{LIST})\]"
)
_SKIPPED = (
    rf"\[Broker id=(?P<broker>\d+)\] Skipped the become-(?:leader|follower) state change "
    rf"for {PARTITION} with topic id {_TOPIC_ID} (?:and )?"
)

PATTERNS = (
    LinePattern(
        kind=Kind.LEADS,
        hint="Leader ",
        pattern=re.compile(
            rf"\[Broker id=(?P<broker>\d+)\] Leader {PARTITION}(?: with topic id {_TOPIC_ID})? "
            rf"starts at leader epoch (?P<epoch>{NUMBER}) from offset (?P<offset>{NUMBER}) with "
            rf"(?:partition epoch {_DECISION}, )?{_BETWEEN}{_WATERMARK},? {_BETWEEN}"
            rf"ISR \[(?P<isr>{LIST})\](?:,? adding ?[Rr]eplicas \[(?P<adding>{LIST})\](?: and)? "
            rf"removing ?[Rr]eplicas \[(?P<removing>{LIST})\](?P<below> \(under-min-isr\))?)?"
            r".{0,4000}?[Pp]revious leader epoch was "
            rf"(?P<previous_epoch>{NUMBER})"
        ),
        source="Partition.makeLeader; state-change.log; 2.6.0 on",
    ),
    LinePattern(
        kind=Kind.FOLLOWS,
        hint="Follower ",
        pattern=re.compile(
            rf"\[Broker id=(?P<broker>\d+)\] Follower {PARTITION}(?: with topic id {_TOPIC_ID})? "
            rf"starts at leader epoch (?P<epoch>{NUMBER}) from offset (?P<offset>{NUMBER}) with "
            rf"(?:partition epoch {_DECISION} and )?{_BETWEEN}{_WATERMARK}\."
            rf"(?: Current leader is (?P<leader>{NUMBER})\.)?"
        ),
        source="Partition.makeFollower; state-change.log; 2.6.0 on",
    ),
    LinePattern(
        kind=Kind.KNOWS,
        hint="Skipped the become-",
        pattern=re.compile(_SKIPPED + "partition registration " + REGISTRATION),
        source="Partition.makeLeader, Partition.makeFollower; state-change.log; 4.2.0 on",
    ),
    LinePattern(
        kind=Kind.KNOWS,
        hint="Skipped the become-",
        pattern=re.compile(_SKIPPED + "partition state " + REQUESTED),
        source="Partition.makeLeader, Partition.makeFollower; state-change.log; 3.3.0 to 4.1.2",
    ),
    LinePattern(
        kind=Kind.TRUNCATES,
        hint="Truncating to offset ",
        pattern=re.compile(
            rf"\[\w{{0,40}}Log partition={PARTITION}, [^\]]{{1,4000}}\] "
            rf"Truncating to offset (?P<offset>{NUMBER})"
        ),
        source="UnifiedLog.truncateTo, Log.truncateTo; server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.CUTS_BELOW,
        hint=" below high watermark ",
        pattern=re.compile(
            rf"Truncating (?:partition )?{PARTITION} to offset (?P<offset>{NUMBER}) "
            rf"below high watermark (?P<high_watermark>{NUMBER})"
        ),
        source="ReplicaFetcherThread.truncate, UnifiedLog; server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.ASKS_TO_SHRINK,
        hint="Shrinking ISR ",
        pattern=re.compile(
            rf"\[Partition {PARTITION} broker=(?P<broker>\d+)\] Shrinking ISR from [\d,]* to "
            rf"(?P<isr>[\d,]+)\. Leader: \(highWatermark: (?P<high_watermark>{NUMBER}), "
            rf"endOffset: (?P<offset>{NUMBER})\)"
        ),
        source="Partition.maybeShrinkIsr; server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.CHANGES_ISR,
        hint="ISR updated ",
        pattern=re.compile(
            rf"\[Partition {PARTITION} broker=(?P<broker>\d+)\] ISR updated (?:from AlterIsr )?to "
            r"\[?(?P<isr>[\d,]+)\]?"
            r"(?: {1,2}(?P<below>\(under-min-isr\) )?and (?:zkVersion|version) updated to "
            r"\[?(?P<partition_epoch>\d{1,10})\]?)?"
        ),
        source="Partition.handleAlterPartitionUpdate; until 2.7 also maybeUpdateIsrAndVersion; "
        "server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.LOADS,
        hint="Log loaded for partition ",
        pattern=re.compile(
            rf"\[Partition {PARTITION} broker=(?P<broker>\d+)\] Log loaded for partition \S+ with "
            rf"initial high watermark (?P<high_watermark>{NUMBER})"
        ),
        source="Partition.createLog; server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.DELETES,
        hint="Log for partition ",
        pattern=re.compile(
            rf"Log for partition {PARTITION} is (?:marked as stray and )?renamed to "
        ),
        source="LogManager.asyncDelete; server.log; 2.4.0 on",
    ),
    LinePattern(
        kind=Kind.FETCHES,
        hint="[ReplicaFetcher replicaId=",
        pattern=re.compile(
            r"\[ReplicaFetcher replicaId=(?P<broker>\d{1,10}), leaderId=(?P<leader>\d{1,10}), "
            rf"[^\]]*\] .{{0,200}}?\bpartition {PARTITION}(?![\w.-])"
        ),
        source="ReplicaFetcherThread; server.log; until 3.2 no other line names the leader",
    ),
    LinePattern(
        kind=Kind.STOPS,
        hint=" shutting down",
        pattern=re.compile(r"\[(?:Kafka|Broker)Server id=(?P<broker>\d+)\] shutting down"),
        source="KafkaServer.shutdown, BrokerServer.shutdown; server.log; 2.4.0 on",
    ),
)

RELEASE = re.compile(r"Kafka version ?: ?(?P<release>\d{1,3}(?:\.\d{1,3}){1,3})(?P<rest>[\w.-]*)")
"""AppInfoParser, at each start."""
RELEASE_HINT = "Kafka version"
KRAFT = re.compile(r"\[(?:BrokerServer|BrokerLifecycleManager|QuorumController) id=\d+")
ZOOKEEPER = re.compile(r"\[KafkaServer id=\d+\]|\[Controller id=\d+ epoch=")
BROKER = re.compile(
    r"\[(?:Broker id=|Partition \S{1,270} broker=|KafkaServer id=|BrokerServer id=|"
    r"ReplicaFetcher replicaId=|ReplicaFetcherManager on broker |ReplicaManager broker=|"
    r"BrokerLifecycleManager id=|GroupCoordinator )(?P<broker>\d{1,10})\b"
)
"""Broker of a file; a line of the log itself does not name it."""
BROKER_HINTS = ("roker", "[ReplicaFetcher", "[ReplicaManager", "[KafkaServer", "[GroupCoordinator")

_CONFLUENT_FIRST = 5


def release_of(written: tuple[str, str]) -> str:
    """Kafka's release by what AppInfoParser writes: vendors add to it, and Confluent's 7.9.1-ccs
    and 7.9.1-ce are 3.9.1.
    """
    number, rest = written
    parts = number.split(".")
    if rest.startswith(("-ccs", "-ce")) and int(parts[0]) >= _CONFLUENT_FIRST:
        kafka = kafka_of_confluent(number)
        if kafka is not None:
            return ".".join((kafka, *parts[2:3]))
    return ".".join(parts[:3] if parts[0] != "0" else parts)


_NAMED_TOPIC_ID = r"topicI[dD]=?,? ?(?P<topic_id>[\w-]{1,40})"


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
            rf"Setting new leader for {_NAMED_TOPIC_ID}, partition (?P<index>\d{{1,9}}) to "
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
            rf"partitionId=(?P<index>\d{{1,9}}), {_NAMED_TOPIC_ID},.{{0,4000}}?"
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
"""Lines that are shown with what they mean, at their time; no step has to write them."""
