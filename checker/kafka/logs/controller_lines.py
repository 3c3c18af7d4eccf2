"""Table of the lines that record a controller's decisions: pattern, writer, releases.

Read in Kafka's source at 2.4.0, 2.6.0, 2.7.0, 2.8.0 to 2.8.2, 3.0.0, 3.3.0, 3.4.0, 3.6.0, 3.9.1,
4.0.0, 4.1.0, 4.2.0 and 4.3.1; seen in logs of real controllers of 2.8.2 and 3.9.1 with ZooKeeper,
and of 3.9.1 with KRaft. Levels are those of the log4j files that come with Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from waterline.checker.kafka.logs.observation import Change, PartitionState, Place, state_in
from waterline.checker.kafka.logs.patterns import LIST, NUMBER, PARTITION, REGISTRATION, REQUESTED

Read = tuple[int, PartitionState, PartitionState]
"""Number of a decision, its state, and what the line says of the previous state."""
_WRITER = re.compile(r"\[(?:Quorum)?Controller id=(\d{1,10})\b")
_NUMBER = r"(?P<partition_epoch>\d{1,10})"
_TOPIC_ID = r"(?P<topic_id>[\w-]{1,40})"
_LEADER_AND_ISR = (
    rf"LeaderAndIsr\(leader=(?P<leader>{NUMBER}), leaderEpoch=(?P<epoch>{NUMBER}), "
    rf"(?:isr=List\((?P<isr>{LIST})\)|isrWithBrokerEpoch=List\((?P<broker_states>[^)]"
    r"(?:[^()]|\([^()]*\)){0,4000})\))"
    rf"(?:, leaderRecoveryState=\w+)?, (?:zkVersion|partitionEpoch)={_NUMBER}\)"
)
_RECORD = (
    rf"PartitionChangeRecord\(partitionId=(?P<index>\d{{1,9}}), topicId={_TOPIC_ID}, isr=[^=]*, "
    rf"leader=(?P<leader>{NUMBER}), replicas=[^=]*, removingReplicas=(?:null|\[(?P<removing>{LIST})"
    rf"\]), addingReplicas=(?:null|\[(?P<adding>{LIST})\]),[^()]*?"
    rf"(?:eligibleLeaderReplicas=(?:null|\[(?P<elr>{LIST})\])[^()]*)?\)"
)
_ELECTED = re.compile(
    rf"Setting new leader for topicId {_TOPIC_ID}, partition (?P<index>\d{{1,9}}) to "
    rf"(?P<elected>{NUMBER}) using (?P<how>ELR|an unclean election)\b"
    rf"(?:\. Previous partition: {REGISTRATION})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPattern:
    """A message that says something of a decision; `read` makes a state, and the one before."""

    pattern: re.Pattern[str]
    hint: str
    source: str
    """Method that writes the line, with the level unless it is INFO; the file, and the releases."""
    is_committed: bool = True
    """False for a line written before ZooKeeper has stored the decision under that version."""
    read: Callable[[re.Match[str]], Read | None]


def _state(matched: re.Match[str]) -> Read | None:
    """A message that names what it says, and the number; an epoch below 0 is a deletion."""
    groups = matched.groupdict()
    if groups.get("broker_states") is not None:
        groups["isr"] = ",".join(re.findall(r"brokerId=(\d{1,10})", groups["broker_states"]))
    found = state_in(groups)
    if found.epoch is not None and found.epoch < 0:
        return None
    return int(groups["partition_epoch"]), found, state_in(groups, "_before")


def _difference(matched: re.Match[str]) -> Read | None:
    """The changes, as `isr: [0, 1] -> [0]`; nothing where no number grew by one."""
    text = matched["difference"]
    numbers = _DIFFERENCES["partition_epoch"].search(text)
    if numbers is None or int(numbers[2]) != int(numbers[1]) + 1:
        return None
    found = {name: each.search(text) for name, each in _DIFFERENCES.items()}
    before, after = (
        state_in({name: each and each[side] for name, each in found.items()}) for side in (1, 2)
    )
    return int(numbers[2]), after, before


def _election(matched: re.Match[str]) -> Read | None:
    """The state after an election whose winner is the ISR, by the one before."""
    if matched["partition_epoch"] is None:
        return None
    before, leader = state_in(matched.groupdict()), int(matched["elected"])
    after = PartitionState((before.epoch or 0) + 1, leader, (leader,))
    return int(matched["partition_epoch"]) + 1, after, before


_LISTS = {"adding": "addingReplicas", "removing": "removingReplicas"}
_DIFFERENCES = {
    **{
        name: re.compile(rf"(?:^|, ){_LISTS.get(name, name)}: \[({LIST})\] -> \[({LIST})\]")
        for name in PartitionState._fields[2:]
    },
    **{
        name: re.compile(rf"(?:^|, ){said}: ({NUMBER}) -> ({NUMBER})")
        for name, said in (
            ("leader", "leader"),
            ("epoch", "leaderEpoch"),
            ("partition_epoch", "partitionEpoch"),
        )
    },
}

CONTROLLER_PATTERNS = (
    ControllerPattern(
        hint="Changed partition ",
        pattern=re.compile(
            rf"Changed partition {PARTITION} from \w+ to \w+ with state {_LEADER_AND_ISR}"
        ),
        source="ZkPartitionStateMachine.doHandleStateChanges; state-change.log; 2.4.0 to 3.9.1",
        read=_state,
    ),
    ControllerPattern(
        hint=" state changed to (Leader:",
        pattern=re.compile(
            rf"Partition {PARTITION} state changed to \(Leader:(?P<leader>{NUMBER}),"
            rf"ISR:(?P<isr>[\d,]{{0,4000}})(?:,LeaderRecoveryState:\w+)?,"
            rf"LeaderEpoch:(?P<epoch>{NUMBER}),ZkVersion:{_NUMBER},"
        ),
        source="ZkReplicaStateMachine.doHandleStateChanges; state-change.log; 2.6.0 to 3.9.1",
        read=_state,
    ),
    ControllerPattern(
        hint="LeaderAndIsrPartitionState(",
        pattern=re.compile(rf"{REQUESTED}.{{0,9000}}? to broker \d+ for partition {PARTITION}\b"),
        source="ControllerChannelManager.sendLeaderAndIsrRequest, at TRACE; "
        "state-change.log; 2.4.0 to 3.9.1",
        read=_state,
    ),
    ControllerPattern(
        hint="ISR for partition ",
        pattern=re.compile(
            rf"ISR for partition {PARTITION} updated to \[(?P<isr>{LIST})\] and zkVersion "
            rf"updated to \[{_NUMBER}\]"
        ),
        source="KafkaController.processAlterIsr, at DEBUG, which controller.log has; "
        "controller.log; 2.7.0 to 3.2.3",
        read=_state,
    ),
    ControllerPattern(
        hint="ISR for partition ",
        pattern=re.compile(rf"ISR for partition {PARTITION} updated to {_LEADER_AND_ISR}"),
        source="KafkaController.processAlterPartition, at DEBUG, which controller.log has; "
        "controller.log; 3.3.0 to 3.9.1",
        read=_state,
    ),
    ControllerPattern(
        hint="Updated leader epoch for partition ",
        pattern=re.compile(
            rf"Updated leader epoch for partition {PARTITION} to (?P<epoch>\d{{1,10}}), "
            rf"zkVersion={_NUMBER}"
        ),
        source="KafkaController.updateLeaderEpoch; controller.log; 2.8.1 to 3.9.1 (not 3.0)",
        read=_state,
    ),
    ControllerPattern(
        hint=" with topic ID ",
        pattern=re.compile(
            rf"(?:Replayed PartitionRecord for (?:new|existing)|Created) partition {PARTITION} "
            rf"with topic ID {_TOPIC_ID} and {REGISTRATION}"
        ),
        source="ReplicationControlManager.replay; controller.log; 3.0.0 on",
        is_committed=False,
        read=_state,
    ),
    ControllerPattern(
        hint="partition change for ",
        pattern=re.compile(
            rf"partition change for {PARTITION} with topic ID {_TOPIC_ID}: (?P<difference>.*)"
        ),
        source="PartitionRegistration.maybeLogPartitionChange, at DEBUG unless it is UNCLEAN; "
        "controller.log; 3.0.0 on",
        is_committed=False,
        read=_difference,
    ),
    ControllerPattern(
        hint="Replayed partition ",
        pattern=re.compile(
            rf"Replayed partition (?:assignment )?change {_RECORD} for topic \S{{1,260}}\. "
            rf"\(isr: \[(?P<isr_before>{LIST})\] -> \[(?P<isr>{LIST})\], replicaSet: "
            rf"\[(?P<replicas_before>{LIST})\] -> \[(?P<replicas>{LIST})\], "
            rf"partitionEpoch: {_NUMBER}, leaderEpoch: (?P<epoch>\d{{1,10}})\)"
        ),
        source="ReplicationControlManager.replay, at DEBUG where no replicas are reassigned; "
        "controller.log; 4.3.0 on",
        is_committed=False,
        read=_state,
    ),
    ControllerPattern(
        hint="Setting new leader for topicId ",
        pattern=_ELECTED,
        source="PartitionChangeBuilder.tryElection; controller.log; 4.1.0 on",
        is_committed=False,
        read=_election,
    ),
)
"""Patterns of ZooKeeper releases, then of KRaft. By default no log has KRaft's DEBUG lines."""


def changes_in(line: str, place: Place, moment: tuple[int, int]) -> Iterator[tuple[str, Change]]:
    """Yield a decision of a controller by its line, with the partition.

    Where the line names the topic by its id, so does the partition: `uLLV-aeNTViofG-g5RisEg-0`.
    """
    for each in CONTROLLER_PATTERNS:
        if each.hint not in line or not (matched := each.pattern.search(line)):
            continue
        if (said := each.read(matched)) is not None:
            number, state, before = said
            groups = matched.groupdict()
            whose = _WRITER.search(line)
            yield (
                groups.get("tp") or f"{groups['topic_id']}-{groups['index']}",
                Change(
                    writer=f"controller {whose[1]}" if whose else place.file,
                    place=place,
                    moment=moment,
                    number=number,
                    state=state,
                    before=before,
                    topic_id=groups.get("topic_id"),
                    is_committed=each.is_committed,
                ),
            )
        return


UNCLEAN_HINTS = ("UNCLEAN partition change", "No broker in ISR is alive", "an unclean election")
_UNCLEAN = (
    re.compile(
        rf"UNCLEAN partition change for {PARTITION} with topic ID {_TOPIC_ID}: .*"
        rf"\bleader: {NUMBER} -> (?P<elected>{NUMBER}), .*"
        rf"\bleaderEpoch: {NUMBER} -> (?P<epoch>{NUMBER})"
    ),
    re.compile(
        r"No broker in ISR is alive for \[?(?P<name>[\w.-]{1,260}?)(?:-|, ?)(?P<index>\d{1,9})\]?"
        rf"\. Elect leader (?P<elected>{NUMBER})\b"
    ),
    re.compile(_ELECTED.pattern.replace("(?P<how>ELR|", "(?P<how>").replace("<epoch>", "<known>")),
)
"""ReplicationControlManager, PartitionStateMachine with ZooKeeper, PartitionChangeBuilder."""


@dataclass(frozen=True, slots=True)
class UncleanElection:
    """Unclean election that a controller's line reports. Topic, id or epoch may be unknown."""

    partition: str | None
    topic_id: str | None
    index: int
    leader: int
    epoch: int | None
    place: Place


def unclean_in(line: str, place: Place) -> UncleanElection | None:
    """The unclean election that a line tells of, None if it tells of none."""
    if not any(hint in line for hint in UNCLEAN_HINTS):
        return None
    for pattern in _UNCLEAN:
        if matched := pattern.search(line):
            said = matched.groupdict()
            name, index, partition = said.get("name"), said.get("index"), said.get("tp")
            if name is not None:
                partition = f"{name}-{index}"
            epoch, known = said.get("epoch"), said.get("known")
            return UncleanElection(
                partition,
                said.get("topic_id"),
                int(index if index is not None else (partition or "").rpartition("-")[2]),
                int(said["elected"]),
                int(epoch) if epoch is not None else int(known) + 1 if known is not None else None,
                place,
            )
    return None
