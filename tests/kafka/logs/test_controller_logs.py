"""Lines of controllers are read, joined with those of brokers, and left out where they differ.

`recorded` has what brokers and controllers wrote under faults: 2.8.2 and 3.9.1 with ZooKeeper, each
broker with its state-change.log and controller.log, and 3.9.1 with KRaft, its controller at DEBUG.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.controller_logs import kraft_line, zookeeper_line
from tests.support.logged_walks import Decided
from waterline.checker.kafka.logs.answer import answer_of
from waterline.checker.kafka.logs.controller_lines import changes_in
from waterline.checker.kafka.logs.controllers import decisions_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.observation import (
    CONTROLLER,
    BadLogs,
    Kind,
    PartitionState,
    Place,
)
from waterline.checker.kafka.logs.reading import Logs, read_logs
from waterline.checker.kafka.logs.timeline import timeline
from waterline.model.message.releases import release_named

RECORDED = Path(__file__).parent / "recorded"
ID = "kxt8kSqWTfC9Di39ZkFYXQ"
LINES = {
    "[Controller id=0 epoch=1] Changed partition t-0 from OnlinePartition to OnlinePartition with "
    "state LeaderAndIsr(leader=1, leaderEpoch=3, isr=List(1, 2), zkVersion=5)": (5, 3, 1, (1, 2)),
    "[Controller id=0 epoch=1] Changed partition t-0 from OnlinePartition to OnlinePartition with "
    "state LeaderAndIsr(leader=1, leaderEpoch=3, isr=List(2, 1), "
    "leaderRecoveryState=RECOVERED, partitionEpoch=5)": (5, 3, 1, (1, 2)),
    "[Controller id=0 epoch=1] Changed partition t-0 from OnlinePartition to OnlinePartition with "
    "state LeaderAndIsr(leader=-1, leaderEpoch=3, isrWithBrokerEpoch=List("
    "BrokerState(brokerId=2, brokerEpoch=-1), BrokerState(brokerId=1, brokerEpoch=48)), "
    "leaderRecoveryState=RECOVERED, partitionEpoch=5)": (5, 3, -1, (1, 2)),
    "[Controller id=0 epoch=1] Partition t-0 state changed to (Leader:0,ISR:0,2,LeaderEpoch:1,"
    "ZkVersion:1,ControllerEpoch:1) after removing replica 1": (1, 1, 0, (0, 2)),
    "[Controller id=0 epoch=1] Partition t-0 state changed to (Leader:0,ISR:0,2,"
    "LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1) after removing "
    "replica 1": (1, 1, 0, (0, 2)),
    "[Controller id=0] ISR for partition t-0 updated to [0,2,1] and zkVersion updated to [2]": (
        *(2, None, None),
        (0, 1, 2),
    ),
    "[Controller id=0] ISR for partition t-0 updated to LeaderAndIsr(leader=0, leaderEpoch=1, "
    "isr=List(0, 1), leaderRecoveryState=RECOVERED, partitionEpoch=2).": (2, 1, 0, (0, 1)),
    "[Controller id=0] Updated leader epoch for partition t-0 to 4, zkVersion=7": (
        *(7, 4, None),
        None,
    ),
    "[Controller id=1 epoch=1] Sending become-leader LeaderAndIsr request "
    "LeaderAndIsrPartitionState(topicName='t', partitionIndex=0, controllerEpoch=1, leader=1, "
    "leaderEpoch=2, isr=[1, 2], zkVersion=3, replicas=[0, 1, 2], addingReplicas=[], "
    "removingReplicas=[], isNew=false) to broker 1 for partition t-0": (3, 2, 1, (1, 2)),
    f"[QuorumController id=3000] Replayed PartitionRecord for new partition t-0 with topic ID {ID} "
    "and PartitionRegistration(replicas=[0, 1], directories=[a-_, b], isr=[0, 1], "
    "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=0, "
    "leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).": (0, 0, 0, (0, 1)),
    f"[Controller 3000] Created partition t-0 with topic ID {ID} and PartitionRegistration("
    "replicas=[0, 1], isr=[0, 1], removingReplicas=[], addingReplicas=[], leader=0, "
    "leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).": (0, 0, 0, (0, 1)),
    f"[QuorumController id=3000] partition change for t-0 with topic ID {ID}: isr: [0, 1, 2] -> "
    "[0, 1], leader: 2 -> 0, leaderEpoch: 1 -> 2, partitionEpoch: 2 -> 3": (3, 2, 0, (0, 1)),
    f"[QuorumController id=3000] UNCLEAN partition change for t-0 with topic ID {ID}: isr: [0] -> "
    "[1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, "
    "elr: [1] -> [], partitionEpoch: 2 -> 3": (3, 2, 1, (1,)),
    f"[QuorumController id=3000] partition change for t-0 with topic ID {ID}: isr: [0] -> [0, 1], "
    "elr: [1] -> [], partitionEpoch: 7 -> 8": (8, None, None, (0, 1)),
}


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_each_line_says_a_number_and_a_state(line: str) -> None:
    [(partition, change)] = changes_in(line, Place("controller.log", 1, line), ("", 1))

    number, *state = LINES[line]
    assert (partition, change.number) == ("t-0", number)
    assert change.state[:3] == tuple(state)
    assert change.is_committed is ("zkVersion" in line.lower() or "[Controller id" in line)


def registration(**said: object) -> str:
    """As PartitionRegistration.toString of 4.3.1 writes it."""
    fields = {
        "replicas": [0, 1, 2],
        "directories": ["AAAAAAAAAAAAAAAAAAAAAA"] * 3,
        "isr": [0],
        "removingReplicas": [],
        "addingReplicas": [2],
        "elr": [1],
        "lastKnownElr": [],
        "leader": 0,
        "leaderRecoveryState": "RECOVERED",
        "leaderEpoch": 3,
        "partitionEpoch": 7,
    }
    texts = (f"{name}={value}".replace("'", "") for name, value in {**fields, **said}.items())
    return f"PartitionRegistration({', '.join(texts)})"


def record(**said: object) -> str:
    """As PartitionChangeRecord.toString of 4.3.1 writes it."""
    names = ("isr", "leader", "replicas", "removingReplicas", "addingReplicas")
    fields = {"partitionId": 0, "topicId": ID, **dict.fromkeys(names, "null"), "leader": -2}
    fields |= {"leaderRecoveryState": -1, "directories": "null"}
    fields |= {"eligibleLeaderReplicas": "null", "lastKnownElr": "null", **said}
    return f"PartitionChangeRecord({', '.join(f'{name}={each}' for name, each in fields.items())})"


ASSIGNING = {
    "[QuorumController id=3000] Replayed partition assignment change "
    + record(isr=[0], leader=0, replicas=[0, 1], addingReplicas=[])
    + " for topic t. (isr: [0, 2] -> [0], replicaSet: [0, 1, 2] -> [0, 1], partitionEpoch: 8, "
    "leaderEpoch: 4)": (
        8,
        PartitionState(4, 0, (0,), (0, 1), ()),
        PartitionState(None, None, (0, 2), (0, 1, 2)),
    ),
    f"[QuorumController id=3000] partition change for t-0 with topic ID {ID}: replicas: [0, 1] -> "
    "[2, 0, 1], directories: [a, b] -> [c, a, b], addingReplicas: [] -> [2], partitionEpoch: 7 -> "
    "8": (
        8,
        PartitionState(replicas=(0, 1, 2), adding=(2,)),
        PartitionState(replicas=(0, 1), adding=()),
    ),
    f"[QuorumController id=3000] Replayed PartitionRecord for new partition t-0 with topic ID {ID} "
    f"and {registration()}.": (
        7,
        PartitionState(3, 0, (0,), (0, 1, 2), (2,), (), (1,)),
        PartitionState(),
    ),
    f"Setting new leader for topicId {ID}, partition 0 to 1 using ELR. Previous partition: "
    f"{registration()}, change record: {record(isr=[])}": (
        8,
        PartitionState(4, 1, (1,)),
        PartitionState(3, 0, (0,), (0, 1, 2), (2,), (), (1,)),
    ),
    "[Controller id=1 epoch=1] Sending become-leader LeaderAndIsr request "
    "LeaderAndIsrPartitionState(topicName='t', partitionIndex=0, controllerEpoch=1, leader=1, "
    "leaderEpoch=2, isr=[1, 2], partitionEpoch=3, replicas=[2, 0, 1], addingReplicas=[2], "
    "removingReplicas=[0], isNew=false, leaderRecoveryState=0) to broker 1 for partition t-0": (
        3,
        PartitionState(2, 1, (1, 2), (0, 1, 2), (2,), (0,)),
        PartitionState(),
    ),
}


@pytest.mark.parametrize("line", ASSIGNING, ids=range(len(ASSIGNING)))
def test_a_line_says_which_replicas_are_added_and_removed(line: str) -> None:
    [(partition, change)] = changes_in(line, Place("controller.log", 1, line), ("", 1))

    assert partition in ("t-0", f"{ID}-0")
    assert (change.number, change.state, change.before) == ASSIGNING[line]


@pytest.mark.parametrize(
    "said",
    [
        f"topic id Some({ID}) and partition state LeaderAndIsrPartitionState(topicName='', "
        "partitionIndex=0, controllerEpoch=-1, leader=0, leaderEpoch=3, isr=[0], partitionEpoch=7, "
        "replicas=[0, 1, 2], addingReplicas=[2], removingReplicas=[], isNew=false, "
        "leaderRecoveryState=0) since it is already the leader with leader epoch 3. Current high "
        "watermark 4, ISR [0], adding replicas [2] and removing replicas [].",
        f"topic id Some({ID}), partition registration {registration()} and isNew=false since it is "
        "already the leader with leader epoch 3. Current high watermark 4, ISR [0], adding "
        "replicas [2] and removing replicas [].",
    ],
    ids=["3.3 to 4.1", "4.2 on"],
)
def test_a_broker_that_reads_of_a_change_within_its_epoch_says_all_of_it(
    said: str, tmp_path: Path
) -> None:
    (tmp_path / "state-change.log").write_text(
        f"[Broker id=0] Skipped the become-leader state change for t-0 with {said}\n"
    )
    [seen] = read_logs([tmp_path]).by_partition["t-0"]

    assert (seen.kind, seen.partition_epoch, seen.topic_id) == (Kind.KNOWS, 7, ID)
    assert seen.state[:6] == (3, 0, (0,), (0, 1, 2), (2,), ())


def test_an_elr_that_no_line_says_is_not_taken_for_the_one_before(tmp_path: Path) -> None:
    """A leader's line of a changed ISR says nothing of the ELR that it makes or empties."""
    made = registration(replicas=[0, 1], isr=[0, 1], addingReplicas=[], elr=[], leaderEpoch=0)
    said = registration(leaderEpoch=0, partitionEpoch=2)
    brokers = [
        "[Broker id=0] Leader t-0 starts at leader epoch 0 from offset 0 with partition epoch 0, "
        "high watermark 0, ISR [0,1], adding replicas [] and removing replicas [] . Previous "
        "leader None and previous leader epoch was -1.",
        f"[Broker id=0] Skipped the become-leader state change for t-0 with topic id Some({ID}), "
        f"partition registration {said} and isNew=false since it is already the leader.",
    ]
    controller = [
        "[QuorumController id=3000] Replayed PartitionRecord for new partition t-0 with topic ID "
        f"{ID} and {made.replace('partitionEpoch=7', 'partitionEpoch=0')}.",
        "[QuorumController id=3000] Replayed partition assignment change "
        + record(replicas=[0, 1, 2], addingReplicas=[2])
        + " for topic t. (isr: [0] -> [0], replicaSet: [0, 1] -> [0, 1, 2], partitionEpoch: 2, "
        "leaderEpoch: 0)",
    ]
    isr = "[Partition t-0 broker=0] ISR updated to 0 (under-min-isr) and version updated to 1"
    logs_of(tmp_path, brokers, controller=controller)
    (tmp_path / "broker-0.log").write_text("\n".join([brokers[0], isr, brokers[1]]) + "\n")
    logs = read_logs([tmp_path])

    assert numbers(logs)[-3:] == [0, 1, 2]
    assert [o.elr for o in logs.of("t-0")[CONTROLLER]][-3:] == [(), None, (1,)]
    assert [o.replicas for o in logs.of("t-0")[CONTROLLER]][-3:] == [(0, 1), (0, 1), (0, 1, 2)]
    assert logs.notes_of("t-0") == []


def test_an_election_from_the_elr_is_a_decision_of_the_topic_with_that_id(tmp_path: Path) -> None:
    line = (
        f"Setting new leader for topicId {ID}, partition 0 to 1 using ELR. Previous partition: "
        f"{registration(partitionEpoch=0, leaderEpoch=0)}, change record: {record()}"
    )
    leader = (
        f"[Broker id=1] Leader t-0 with topic id Some({ID}) starts at leader epoch 1 from offset 0 "
        "with partition epoch 1, high watermark 0, ISR [1], adding replicas [2] and removing "
        "replicas [] (under-min-isr). Previous leader Some(0) and previous leader epoch was 0."
    )
    logs = logs_of(tmp_path, [leader], controller=[line])
    noted, decided = logs.of("t-0")[CONTROLLER]

    assert noted.said == "elects broker 1 from the ELR"
    assert (decided.partition_epoch, decided.state[:3]) == (1, (1, 1, (1,)))
    [seen] = logs.of("t-0")[1]
    assert (seen.adding, seen.removing, seen.is_below_min_isr) == ((2,), (), True)


@pytest.mark.parametrize(
    "line",
    [
        f"[QuorumController id=3000] partition change for t-0 with topic ID {ID}: isr: [0, 1] -> [",
        f"[QuorumController id=3000] partition change for t-0 with topic ID {ID}: isr: [0] -> [1], "
        "partitionEpoch: 3 -> 9",
        "[Controller id=0] Updated leader epoch for partition t-0 to 4",
        "[Controller id=0 epoch=1] Changed partition t-0 from OnlinePartition to OnlinePartition "
        "with state LeaderAndIsr(leader=1, leaderEpoch=-2, isr=List(1, 2), zkVersion=5)",
        "[Controller id=0 epoch=1] Changed partition t-0 state from NonExistentPartition to "
        "NewPartition with assigned replicas 0,1,2",
    ],
)
def test_a_line_that_is_cut_or_says_no_number_says_nothing(line: str) -> None:
    assert not list(changes_in(line, Place("controller.log", 1, line), ("", 1)))


@pytest.mark.parametrize("release", ["2.8.2-controller", "3.9.1-controller"])
def test_two_controllers_with_zookeeper_are_one_run_of_decisions(release: str) -> None:
    """Broker 0 was the controller, then broker 2; brokers' own lines have one decision, or none."""
    observed = read_logs([RECORDED / release]).of("t-0")

    assert [(o.partition_epoch, o.epoch, o.leader, o.isr) for o in observed[CONTROLLER]] == [
        (0, 0, 0, (0, 1, 2)),
        (1, 1, 0, (0, 2)),
        (2, 1, 0, (0, 1, 2)),
        (3, 2, 0, (0, 1)),
        (4, 2, 0, (0, 1, 2)),
        (5, 3, 1, (1, 2)),
        (6, 3, 1, (0, 1, 2)),
    ]
    assert {o.place.file.split("/")[-2] for o in observed[CONTROLLER]} == {"broker-0", "broker-2"}
    assert [o.partition_epoch for o in decisions_of(observed, 0, 3)] == [1, 2, 3, 4, 5, 6]
    assert [o.partition_epoch for o in decisions_of(observed, 1, 2)] == [2, 3, 4]
    without = {b: seen for b, seen in observed.items() if b != CONTROLLER}
    assert len(decisions_of(without, 0, 3)) < 2


@pytest.mark.parametrize("source", ["controller.log", "metadata-dump.txt"])
def test_with_kraft_the_log_and_the_dump_say_the_same(source: str, tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "3.9.1-kraft-controller", tmp_path / "logs")
    for each in (tmp_path / "logs" / "controller").iterdir():
        if each.name != source:
            each.unlink()
    logs = read_logs([tmp_path])
    observed = logs.of("t-0")

    assert sorted(observed) == [CONTROLLER, 0, 1, 2]
    assert logs.brokers == {0, 1, 2}
    assert [(o.partition_epoch, o.epoch, o.leader, o.isr) for o in observed[CONTROLLER]] == [
        (0, 0, 0, (0, 1, 2)),
        (1, 0, 0, (0, 1, 2)),
        (2, 1, 2, (0, 1, 2)),
        (3, 2, 0, (0, 1)),
        (4, 3, 1, (1,)),
        (5, 3, 1, (1,)),
        (6, 3, 1, (1,)),
        (7, 3, 1, (0, 1)),
        (8, 3, 1, (0, 1, 2)),
    ]
    # Of these, two change neither leader epoch, leader nor ISR: the assignment has changed.
    assert [o.partition_epoch for o in decisions_of(observed, 0, 3)] == [2, 3, 4, 7, 8]
    assert logs.notes_of("t-0") == []


TRUE = (
    Decided(0, 0, 0, (0, 1)),
    Decided(1, 1, 1, (0, 1)),
    Decided(2, 1, 1, (1,)),
    Decided(3, 2, 1, (0, 1)),
)


def leads(each: Decided) -> str:
    """The line of a leader that takes up its role by that decision."""
    isr = ",".join(map(str, each.isr))
    return (
        f"[Broker id={each.leader}] Leader t-0 starts at leader epoch {each.epoch} from offset 0 "
        f"with partition epoch {each.number}, high watermark 0, ISR [{isr}] . "
        "Previous leader epoch was -1."
    )


def logs_of(folder: Path, brokers: Sequence[str], **controllers: Sequence[str]) -> Logs:
    for broker in (0, 1):
        own = [line for line in brokers if line.startswith(f"[Broker id={broker}]")]
        (folder / f"broker-{broker}.log").write_text("\n".join(own) + "\n")
    for name, lines in controllers.items():
        (folder / f"{name}.log").write_text("\n".join(lines) + "\n")
    return read_logs([folder])


def kraft(decided: Sequence[Decided], controller: int = 3000) -> list[str]:
    pairs = zip([None, *decided], decided, strict=False)
    return [kraft_line(before, each, controller=controller) for before, each in pairs]


def numbers(logs: Logs) -> list[int | None]:
    return [o.partition_epoch for o in logs.of("t-0").get(CONTROLLER, [])]


def test_what_no_broker_confirms_need_not_have_been_committed(tmp_path: Path) -> None:
    """A controller of KRaft writes its line first; with ZooKeeper the line comes afterwards."""
    brokers = [leads(TRUE[0]), leads(TRUE[1])]

    logs = logs_of(tmp_path, brokers, controller=kraft(TRUE))
    assert numbers(logs) == [0, 1]
    [note] = logs.notes_of("t-0")
    assert "controller.log:3: no broker has a line of partition epoch 2" in note
    confirmed = logs_of(tmp_path, [*brokers, leads(TRUE[3])], controller=kraft(TRUE))
    assert numbers(confirmed) == [0, 1, 2, 3]
    stored = logs_of(tmp_path, brokers, controller=[zookeeper_line(each) for each in TRUE])
    assert numbers(stored) == [0, 1, 2, 3]


def test_a_decision_that_was_withdrawn_is_left_out(tmp_path: Path) -> None:
    """Controller 3001 lost the quorum after two decisions; 3000 decided otherwise."""
    lost = kraft([*TRUE[:2], Decided(2, 1, 1, (0,)), Decided(3, 2, 0, (0,))], controller=3001)
    brokers = [leads(TRUE[0]), leads(TRUE[1])]

    alone = logs_of(tmp_path, [*brokers, leads(TRUE[3])], one=lost)
    assert numbers(alone) == [0, 1]
    [note] = [each for each in alone.notes_of("t-0") if "partition epoch 3 on" in each]
    assert "broker-1.log:2" in note
    both = logs_of(tmp_path, [*brokers, leads(TRUE[3])], one=lost, other=kraft(TRUE))
    assert numbers(both) == [0, 1]
    assert any(
        "decisions from partition epoch 2 on are not used" in n for n in both.notes_of("t-0")
    )
    # Later it reads in the log what was committed, and writes that.
    again = lost + kraft(TRUE, controller=3001)[2:]
    assert numbers(logs_of(tmp_path, [*brokers, leads(TRUE[3])], one=again, other=[])) == [
        0,
        1,
        2,
        3,
    ]


def test_controllers_that_took_turns_are_joined(tmp_path: Path) -> None:
    lines = kraft(TRUE)
    logs = logs_of(
        tmp_path, [leads(each) for each in TRUE if each.number != 2], a=lines[:2], b=lines[2:]
    )

    assert numbers(logs) == [0, 1, 2, 3]
    assert logs.brokers == {0, 1}


def test_a_missing_decision_ends_the_run(tmp_path: Path) -> None:
    """Without the second, what follows it is known, and not used: a decision may be missing."""
    lines = [zookeeper_line(each) for each in TRUE]
    logs = logs_of(tmp_path, [leads(TRUE[0])], controller=[lines[0], *lines[2:]])
    history = history_of(logs.of("t-0"), with_server_log=set())

    assert numbers(logs) == [0, 2, 3]
    assert history.decisions == ()


def test_a_log_that_begins_within_an_epoch_does_not_say_how_it_began(tmp_path: Path) -> None:
    """Of epoch 1 the log has the second decision alone, with fewer in sync."""
    follows = (
        "[Broker id=0] Follower t-0 starts at leader epoch 1 from offset 0 with partition epoch 1 "
        "and high watermark 0. Current leader is 1."
    )
    lines = [zookeeper_line(each) for each in TRUE]
    cut = logs_of(tmp_path, [follows], controller=lines[2:])
    assert history_of(cut.of("t-0"), with_server_log=set()).decisions == ()

    whole = logs_of(tmp_path, [follows], controller=lines)
    history = history_of(whole.of("t-0"), with_server_log=set())
    assert history.brokers == (1, 0)
    assert [o.isr for o in history.decisions] == [(0,)]


def test_a_leader_is_known_by_the_controller_alone(tmp_path: Path) -> None:
    """No broker that led epoch 1 has left a log, and no follower's line of 2.8.2 names it."""
    follows = (
        "[Broker id=0] Follower t-0 starts at leader epoch {} from offset 0 with high watermark 0."
    )
    brokers = [follows.format(1), follows.format(2)]
    with pytest.raises(BadLogs, match="no line says who led epoch 1"):
        history_of(logs_of(tmp_path, brokers).of("t-0"), with_server_log=set())

    logs = logs_of(tmp_path, brokers, controller=[zookeeper_line(each) for each in TRUE])
    assert history_of(logs.of("t-0"), with_server_log=set()).brokers == (1, 0)


def test_a_topic_that_was_created_anew_is_the_last_one(tmp_path: Path) -> None:
    older = [line.replace("uLLV", "aLLV") for line in kraft([Decided(0, 0, 1, (0, 1))])]
    logs = logs_of(tmp_path, [leads(TRUE[0]), leads(TRUE[1])], controller=older + kraft(TRUE[:2]))

    assert numbers(logs) == [0, 1]
    assert "created anew" in logs.notes_of("t-0")[0]


def test_logs_of_controllers_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text("\n".join(kraft(TRUE)) + "\n")

    with pytest.raises(BadLogs, match="only controllers name any"):
        read_logs([tmp_path]).of("t-0")


def with_decisions(folder: Path, decided: Sequence[Decided]) -> Logs:
    shutil.copytree(RECORDED / "2.8.2-c21", folder / "logs")
    lines = [zookeeper_line(each, is_old=True) for each in decided]
    (folder / "logs" / "controller.log").write_text("\n".join(lines) + "\n")
    return read_logs([folder])


def given(release: str) -> Circumstances:
    followed, hw_in_response = release_named(release)
    return Circumstances(version=followed.version, hw_in_response=hw_in_response)


OF_C21 = (
    Decided(0, 0, 0, (0, 1, 2)),
    Decided(1, 1, 2, (0, 1, 2)),
    Decided(2, 2, 0, (0, 1)),
    Decided(3, 3, 1, (0, 1)),
)


def test_decisions_stand_in_the_timeline_with_their_lines(tmp_path: Path) -> None:
    """No line of a broker of 2.8.2 has the number of a decision."""
    found = answer_of(with_decisions(tmp_path, OF_C21), "t-0", given("2.8.2:zookeeper"))

    assert [cause.scenario.number for cause in found.causes] == ["C21"]
    assert found.always_loses
    assert found.shown is not None
    at = [e.decided_at for e in timeline(found.best, found.shown) if e.decided is not None]
    *of_controller, of_leader = [(p.file.rpartition("/")[2], p.line) for p in at if p is not None]
    assert of_controller == [("controller.log", line) for line in (2, 3, 4)]
    # The leader of epoch 3 has changed the ISR, and its line has the number of that.
    assert of_leader == ("server.log", 20)


def test_a_false_decision_is_not_what_nothing_fits_rests_on(tmp_path: Path) -> None:
    """By it the leader of epoch 2 was in no ISR. Then the same bounds are searched without it."""
    false = (*OF_C21[:1], Decided(1, 1, 2, (1, 2)), *OF_C21[2:])
    found = answer_of(with_decisions(tmp_path, false), "t-0", given("2.8.2:zookeeper"))

    assert any(each.nothing_fits and each.history.decisions for each in found.tried)
    assert found.fits
    assert found.best.history.decisions == ()
    assert [cause.scenario.number for cause in found.causes] == ["C21"]


def test_kinds_of_controllers_are_no_lines_of_brokers() -> None:
    history = history_of(
        read_logs([RECORDED / "2.8.2-controller"]).of("t-0"), with_server_log={0, 1, 2}
    )

    assert CONTROLLER not in history.brokers
    assert all(o.kind is not Kind.DECIDES for lines in history.observed for o in lines)
