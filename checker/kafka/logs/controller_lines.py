"""Table of the lines in which a controller says what it decided: pattern, writer, releases.

Read in Kafka's source at 2.4.0, 2.6.0, 2.7.0, 2.8.2, 3.0.0, 3.3.0, 3.4.0, 3.6.0 and on the branch
of 3.9, and in the class files of 4.2.0; seen in logs of real controllers of 2.8.2 and 3.9.1 with
ZooKeeper, and of 3.9.1 with KRaft. Levels are those of the log4j files that come with Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checker.kafka.logs.changes import Change, PartitionState
from checker.kafka.logs.observation import Place

_NUMBER = r"-?\d{1,19}"
_PARTITION = r"(?P<tp>[A-Za-z0-9._-]{1,260}-\d{1,9})"
_LIST = r"[\d, ]{0,4000}"
_WRITER = re.compile(r"\[(?:Quorum)?Controller id=(\d{1,10})\b")
_LEADER_AND_ISR = (
    rf"LeaderAndIsr\(leader=(?P<leader>{_NUMBER}), leaderEpoch=(?P<epoch>{_NUMBER}), "
    rf"(?:isr=List\((?P<isr>{_LIST})\)|isrWithBrokerEpoch=List\((?P<broker_states>[^)]"
    r"(?:[^()]|\([^()]*\)){0,4000})\))"
    rf"(?:, leaderRecoveryState=\w+)?, (?:zkVersion|partitionEpoch)=(?P<number>\d{{1,10}})\)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPattern:
    """A message that says something of a decision; `read` makes a state, and the one before."""

    pattern: re.Pattern[str]
    hint: str
    writer: str
    file: str
    since: str
    until: str | None = None
    is_committed: bool
    """Of ZooKeeper: it is written once ZooKeeper has stored it under that version."""
    read: Callable[[re.Match[str]], tuple[int, PartitionState, PartitionState] | None]


def _whole(matched: re.Match[str]) -> tuple[int, PartitionState, PartitionState] | None:
    """A message that names leader epoch, leader, ISR and number; an epoch below 0 is a deletion."""
    groups = matched.groupdict()
    isr = groups["isr"]
    if isr is None:
        isr = ",".join(re.findall(r"brokerId=(\d{1,10})", groups.get("broker_states") or ""))
    epoch = int(groups["epoch"])
    if epoch < 0:
        return None
    return int(groups["number"]), _state(epoch, int(groups["leader"]), isr), PartitionState()


def _isr_alone(matched: re.Match[str]) -> tuple[int, PartitionState, PartitionState] | None:
    return int(matched["number"]), _state(None, None, matched["isr"]), PartitionState()


def _epoch_alone(matched: re.Match[str]) -> tuple[int, PartitionState, PartitionState] | None:
    return int(matched["number"]), PartitionState(epoch=int(matched["epoch"])), PartitionState()


def _difference(matched: re.Match[str]) -> tuple[int, PartitionState, PartitionState] | None:
    """What has changed, as `isr: [0, 1] -> [0]`; nothing where no number grew by one."""
    text = matched["difference"]
    numbers = _DIFFERENCES["partitionEpoch"].search(text)
    if numbers is None or int(numbers[2]) != int(numbers[1]) + 1:
        return None
    found = {name: each.search(text) for name, each in _DIFFERENCES.items()}
    before, after = (
        _state(
            int(epoch[side]) if (epoch := found["leaderEpoch"]) else None,
            int(leader[side]) if (leader := found["leader"]) else None,
            isr[side] if (isr := found["isr"]) else None,
        )
        for side in (1, 2)
    )
    return int(numbers[2]), after, before


def _state(epoch: int | None, leader: int | None, isr: str | None) -> PartitionState:
    members = None if isr is None else tuple(sorted({int(each) for each in _split(isr)}))
    return PartitionState(epoch, leader, members)


def _split(text: str) -> list[str]:
    return [each for each in re.split(r"[,\s]+", text) if each]


_DIFFERENCES = {
    "isr": re.compile(rf"(?:^|, )isr: \[({_LIST})\] -> \[({_LIST})\]"),
    **{
        name: re.compile(rf"(?:^|, ){name}: ({_NUMBER}) -> ({_NUMBER})")
        for name in ("leader", "leaderEpoch", "partitionEpoch")
    },
}

CONTROLLER_PATTERNS = (
    ControllerPattern(
        hint="Changed partition ",
        pattern=re.compile(
            rf"Changed partition {_PARTITION} from \w+ to \w+ with state {_LEADER_AND_ISR}"
        ),
        writer="ZkPartitionStateMachine.doHandleStateChanges",
        file="state-change.log",
        since="2.4.0",
        until="3.9.1",
        is_committed=True,
        read=_whole,
    ),
    ControllerPattern(
        hint=" state changed to (Leader:",
        pattern=re.compile(
            rf"Partition {_PARTITION} state changed to \(Leader:(?P<leader>{_NUMBER}),"
            rf"ISR:(?P<isr>[\d,]{{0,4000}})(?:,LeaderRecoveryState:\w+)?,"
            rf"LeaderEpoch:(?P<epoch>{_NUMBER}),ZkVersion:(?P<number>\d{{1,10}}),"
        ),
        writer="ZkReplicaStateMachine.doHandleStateChanges",
        file="state-change.log",
        since="2.6.0",
        until="3.9.1",
        is_committed=True,
        read=_whole,
    ),
    ControllerPattern(
        hint="LeaderAndIsrPartitionState(",
        pattern=re.compile(
            r"LeaderAndIsrPartitionState\(topicName='[^']*', partitionIndex=\d+, "
            rf"controllerEpoch={_NUMBER}, leader=(?P<leader>{_NUMBER}), "
            rf"leaderEpoch=(?P<epoch>{_NUMBER}), isr=\[(?P<isr>{_LIST})\], "
            r"(?:zkVersion|partitionEpoch)=(?P<number>\d{1,10}), .{0,9000}? "
            rf"to broker \d+ for partition {_PARTITION}\b"
        ),
        writer="ControllerChannelManager.sendLeaderAndIsrRequest, at TRACE",
        file="state-change.log",
        since="2.4.0",
        until="3.9.1",
        is_committed=True,
        read=_whole,
    ),
    ControllerPattern(
        hint="ISR for partition ",
        pattern=re.compile(
            rf"ISR for partition {_PARTITION} updated to \[(?P<isr>{_LIST})\] and zkVersion "
            r"updated to \[(?P<number>\d{1,10})\]"
        ),
        writer="KafkaController.processAlterIsr, at DEBUG, which controller.log has",
        file="controller.log",
        since="2.7.0",
        until="3.2.3",
        is_committed=True,
        read=_isr_alone,
    ),
    ControllerPattern(
        hint="ISR for partition ",
        pattern=re.compile(rf"ISR for partition {_PARTITION} updated to {_LEADER_AND_ISR}"),
        writer="KafkaController.processAlterPartition, at DEBUG, which controller.log has",
        file="controller.log",
        since="3.3.0",
        until="3.9.1",
        is_committed=True,
        read=_whole,
    ),
    ControllerPattern(
        hint="Updated leader epoch for partition ",
        pattern=re.compile(
            rf"Updated leader epoch for partition {_PARTITION} to (?P<epoch>\d{{1,10}}), "
            r"zkVersion=(?P<number>\d{1,10})"
        ),
        writer="KafkaController.updateLeaderEpoch",
        file="controller.log",
        since="2.8.2",
        until="3.9.1",
        is_committed=True,
        read=_epoch_alone,
    ),
    ControllerPattern(
        hint=" with topic ID ",
        pattern=re.compile(
            rf"(?:Replayed PartitionRecord for (?:new|existing)|Created) partition {_PARTITION} "
            r"with topic ID (?P<topic_id>[\w-]{1,40}) and PartitionRegistration\("
            rf"[^()]*?\bisr=\[(?P<isr>{_LIST})\][^()]*?\bleader=(?P<leader>{_NUMBER}),"
            rf"[^()]*?\bleaderEpoch=(?P<epoch>{_NUMBER}), partitionEpoch=(?P<number>\d{{1,10}})\)"
        ),
        writer="ReplicationControlManager.replay",
        file="controller.log",
        since="3.0.0",
        is_committed=False,
        read=_whole,
    ),
    ControllerPattern(
        hint="partition change for ",
        pattern=re.compile(
            rf"partition change for {_PARTITION} with topic ID (?P<topic_id>[\w-]{{1,40}}): "
            r"(?P<difference>.*)"
        ),
        writer="PartitionRegistration.maybeLogPartitionChange, at DEBUG unless it is UNCLEAN",
        file="controller.log",
        since="3.0.0",
        is_committed=False,
        read=_difference,
    ),
)
"""In ZooKeeper releases, then in KRaft. Those of KRaft at DEBUG are in no log by default."""


def changes_in(line: str, place: Place, moment: tuple[int, int]) -> Iterator[tuple[str, Change]]:
    """What a line says that a controller decided, with the partition."""
    for each in CONTROLLER_PATTERNS:
        if each.hint not in line or not (matched := each.pattern.search(line)):
            continue
        if (said := each.read(matched)) is not None:
            number, state, before = said
            whose = _WRITER.search(line)
            yield (
                matched["tp"],
                Change(
                    writer=f"controller {whose[1]}" if whose else place.file,
                    place=place,
                    moment=moment,
                    number=number,
                    state=state,
                    before=before,
                    topic_id=matched.groupdict().get("topic_id"),
                    is_committed=each.is_committed,
                ),
            )
        return


UNCLEAN_HINTS = ("UNCLEAN partition change", "No broker in ISR is alive", "an unclean election")
_UNCLEAN = (
    re.compile(
        rf"UNCLEAN partition change for {_PARTITION} with topic ID (?P<topic_id>[\w-]{{1,40}}): .*"
        rf"\bleader: {_NUMBER} -> (?P<leader>{_NUMBER}), .*"
        rf"\bleaderEpoch: {_NUMBER} -> (?P<epoch>{_NUMBER})"
    ),
    re.compile(
        r"No broker in ISR is alive for \[?(?P<name>[\w.-]{1,260}?)(?:-|, ?)(?P<index>\d{1,9})\]?"
        rf"\. Elect leader (?P<leader>{_NUMBER})\b"
    ),
    re.compile(
        rf"Setting new leader for topicId (?P<topic_id>[\w-]{{1,40}}), partition "
        rf"(?P<index>\d{{1,9}}) to (?P<leader>{_NUMBER}) using an unclean election"
    ),
)
"""ReplicationControlManager, PartitionStateMachine with ZooKeeper, PartitionChangeBuilder."""


@dataclass(frozen=True, slots=True)
class UncleanElection:
    """A line in which a controller says so. Of topic and id one may be unknown, as the epoch."""

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
            epoch = said.get("epoch")
            return UncleanElection(
                partition,
                said.get("topic_id"),
                int(index if index is not None else (partition or "").rpartition("-")[2]),
                int(said["leader"]),
                int(epoch) if epoch is not None else None,
                place,
            )
    return None
