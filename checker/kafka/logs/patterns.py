"""Table of the lines that are read: pattern, the class that writes it, the releases that have it.

Read in Kafka's source at 2.4.0, 2.6.0, 2.7.0, 2.8.2, 3.0.0, 3.3.0, 3.6.0, 3.9.1 and 4.2.0. A line
is found by its message, wherever it stands, so that any layout of log4j will do. All are at INFO,
Kafka's default for these loggers. Confluent Server names the class of a log MergedLog, or others.
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
