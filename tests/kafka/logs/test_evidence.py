"""What lines alone show: at risk, truncated, unclean elections, topics created anew, releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from waterline.checker.cli.explaining_logs import release_of
from waterline.checker.kafka.logs.answer import answer_of, is_unclean
from waterline.checker.kafka.logs.evidence import Evidence, evidence_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.history import leaders_told
from waterline.checker.kafka.logs.observation import BadLogs, Kind
from waterline.checker.kafka.logs.reading import Logs, read_logs
from waterline.model.message.releases import release_named

ID, OLD_ID = "Zk1r3mSgQ0uUe0hP1n0xXg", "q7Pq9u0uSCCrn1mTMvYcxA"
GIVEN = Circumstances(version="kraft", hw_in_response="pre")


class Writer:
    """Writes the lines of brokers, a second apart, each broker's to a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seconds = 0

    def says(self, broker: int | str, text: str) -> None:
        """One line."""
        self._seconds += 1
        minutes, seconds = divmod(self._seconds, 60)
        with (self._folder / f"{broker}.log").open("a") as file:
            file.write(f"[2026-03-01 08:{minutes:02}:{seconds:02},100] INFO {text}\n")

    def leads(self, broker: int, epoch: int, offset: int, *, hw: int, isr: str, more: str) -> None:
        """A leader's line; `more` are topic id and partition epoch."""
        topic, number = more.split()
        self.says(
            broker,
            f"[Broker id={broker}] Leader t-0 with topic id {topic} starts at leader epoch {epoch} "
            f"from offset {offset} with partition epoch {number}, high watermark {hw}, ISR "
            f"[{isr}], adding replicas [] and removing replicas [] . Previous leader Some(1) and "
            "previous leader epoch was 0. (state.change.logger)",
        )

    def follows(self, broker: int, epoch: int, offset: int, *, hw: int, leader: int) -> None:
        """A follower's line."""
        self.says(
            broker,
            f"[Broker id={broker}] Follower t-0 starts at leader epoch {epoch} from offset {offset}"
            f" with partition epoch {epoch} and high watermark {hw}. Current leader is {leader}. "
            "Previous leader Some(1) and previous leader epoch was 0. (state.change.logger)",
        )

    def truncates(self, broker: int, offset: int) -> None:
        """The line of a log; who follows has said whose it is."""
        self.says(broker, f"[UnifiedLog partition=t-0, dir=/d] Truncating to offset {offset} (x)")

    def loads(self, broker: int, hw: int) -> None:
        """The line of a start."""
        loaded = f"Log loaded for partition t-0 with initial high watermark {hw}"
        self.says(broker, f"[Partition t-0 broker={broker}] {loaded} (kafka.cluster.Partition)")


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


def shown(folder: Path) -> tuple[Logs, Evidence]:
    logs = read_logs([folder])
    return logs, evidence_of(logs.of("t-0"), logs.unclean_of("t-0"))


def test_a_truncation_below_what_the_process_knew_puts_offsets_at_risk(
    write: Writer, tmp_path: Path
) -> None:
    write.follows(1, 5, 900, hw=900, leader=2)
    write.truncates(1, 400)
    write.truncates(1, 300)

    _, evidence = shown(tmp_path)

    [risk] = evidence.at_risk
    assert (risk.first, risk.last, risk.broker, risk.epoch) == (400, 899, 1, None)
    [cut] = evidence.truncated
    assert (cut.first, cut.last) == (400, 899)
    found = answer_of(read_logs([tmp_path]), "t-0", GIVEN)
    assert found.best is None
    assert "below 900, with which the first leader began" in found.unsearched


def test_a_start_that_read_a_lower_high_watermark_truncates_to_it(
    write: Writer, tmp_path: Path
) -> None:
    """As where the checkpoint was older: the leader has the records."""
    write.follows(1, 5, 900, hw=900, leader=2)
    write.loads(1, 400)
    write.truncates(1, 400)

    assert shown(tmp_path)[1].at_risk == ()


@pytest.mark.parametrize(
    "line",
    [
        f"[QuorumController id=9] UNCLEAN partition change for t-0 with topic ID {ID}: isr: [1] -> "
        "[2], leader: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, "
        "partitionEpoch: 1 -> 2 (org.apache.kafka.controller.ReplicationControlManager)",
        f"[QuorumController id=9] Setting new leader for topicId {ID}, partition 0 to 2 using an "
        "unclean election (org.apache.kafka.controller.PartitionChangeBuilder)",
        "[Partition state machine on Controller 9]: No broker in ISR is alive for t-0. Elect leader"
        " 2 from live brokers 2. There's potential data loss. (kafka.controller.PartitionState)",
    ],
)
def test_a_controller_that_says_so_has_elected_uncleanly(
    line: str, write: Writer, tmp_path: Path
) -> None:
    write.leads(1, 0, 0, hw=0, isr="1,2", more=f"Some({ID}) 0")
    write.says("controller", line.replace("t-0", "u-0").replace(ID, OLD_ID))
    _, evidence = shown(tmp_path)
    assert not is_unclean(evidence, "kraft")
    write.says("controller", line)

    _, evidence = shown(tmp_path)

    [election] = evidence.unclean
    assert election.leader == 2
    assert is_unclean(evidence, "kraft")


def test_an_unclean_election_in_the_metadata_log(write: Writer, tmp_path: Path) -> None:
    write.leads(1, 0, 0, hw=0, isr="1,2", more=f"Some({ID}) 0")
    head = f'{{"type":"%s","version":0,"data":{{"topicId":"{ID}",'
    records = [
        head % "TOPIC_RECORD" + '"name":"t"}}',
        head % "PARTITION_RECORD" + '"partitionId":0,"leader":1,"isr":[1],"leaderEpoch":0,'
        '"partitionEpoch":0}}',
        head % "PARTITION_CHANGE_RECORD" + '"partitionId":0,"leader":2,"isr":[2],'
        '"leaderRecoveryState":1}}',
    ]
    (tmp_path / "dump.txt").write_text(
        "Dumping /d/00000000000000000000.log\n"
        "baseOffset: 0 lastOffset: 2 count: 3 isControl: false position: 0\n"
        + "\n".join(f"| offset: {k} payload: {each}" for k, each in enumerate(records))
    )

    [election] = shown(tmp_path)[1].unclean

    assert (election.leader, election.epoch) == (2, 1)


def test_a_leader_from_outside_the_isr(write: Writer, tmp_path: Path) -> None:
    """It may have been an eligible leader replica where there are any: there it is a hint."""
    write.leads(1, 0, 0, hw=0, isr="1,2", more=f"Some({ID}) 0")
    write.says(1, "[Partition t-0 broker=1] ISR updated to 1  and version updated to 1 (x)")
    write.leads(2, 1, 0, hw=0, isr="2", more=f"Some({ID}) 2")

    _, evidence = shown(tmp_path)

    [outside] = evidence.outside
    assert (outside.epoch, outside.leader, outside.isr, outside.is_next) == (1, 2, (1,), True)
    assert is_unclean(evidence, "kraft")
    assert is_unclean(evidence, release_named("3.9.1:zookeeper")[0].version)
    assert not is_unclean(evidence, release_named("4.1.0")[0].version)


def test_a_topic_created_anew_is_another_history(write: Writer, tmp_path: Path) -> None:
    """By ids, by epochs that fall, and, of a broker that shows neither, by the time."""
    write.leads(1, 3, 500, hw=500, isr="1,2,3", more=f"Some({OLD_ID}) 7")
    write.follows(2, 3, 500, hw=500, leader=1)
    write.follows(3, 3, 500, hw=500, leader=1)
    write.truncates(2, 100)
    write.leads(1, 0, 0, hw=0, isr="1,2", more=f"Some({ID}) 0")
    write.follows(2, 0, 0, hw=0, leader=1)

    logs = read_logs([tmp_path])

    observed = logs.of("t-0")
    assert {b: [(o.kind, o.epoch) for o in lines] for b, lines in observed.items()} == {
        1: [(Kind.LEADS, 0)],
        2: [(Kind.FOLLOWS, 0)],
    }
    assert evidence_of(observed) == Evidence()
    [note] = logs.notes_of("t-0")
    assert f"created anew, with the id {ID}; lines about the older one are left out" in note


def test_a_topic_created_anew_without_ids_is_known_by_its_epochs(
    write: Writer, tmp_path: Path
) -> None:
    write.leads(1, 3, 500, hw=500, isr="1,2", more="None 7")
    write.follows(2, 3, 500, hw=500, leader=1)
    write.leads(2, 0, 0, hw=0, isr="1,2", more="None 0")
    write.follows(1, 0, 0, hw=0, leader=2)

    observed = read_logs([tmp_path]).of("t-0")

    assert [len(lines) for lines in observed.values()] == [1, 1]
    assert leaders_told(observed) == {0: 2}


def test_whom_a_follower_fetches_from_led_its_epoch(write: Writer, tmp_path: Path) -> None:
    """Not so at once: the fetcher of the epoch before may still speak."""
    role = (
        "[Broker id=1] Follower t-0 starts at leader epoch %s from offset 7 with high watermark 7."
    )
    retry = (
        "[ReplicaFetcher replicaId=1, leaderId=%s, fetcherId=2] Retrying leaderEpoch request for "
        "partition t-0 as the leader reported an error: UNKNOWN_LEADER_EPOCH (kafka.server)"
    )
    write.says(1, role % 5)
    write.says(1, retry % 3)
    assert leaders_told(read_logs([tmp_path]).of("t-0")) == {}
    with pytest.raises(BadLogs, match=r"who led epoch 5; add state-change.log of its leader"):
        answer_of(read_logs([tmp_path]), "t-0", GIVEN)
    for _ in range(3):
        write.says(1, retry % 4)
    write.says(1, role % 6)

    observed = read_logs([tmp_path]).of("t-0")

    assert leaders_told(observed) == {5: 4}
    assert sum(seen.kind is Kind.FETCHES for seen in observed[1]) == 2


@pytest.mark.parametrize(
    ("written", "release"),
    [
        ("3.9.1", "3.9.1"),
        ("7.9.1-ccs", "3.9.1"),
        ("7.4.0-ce", "3.4.0"),
        ("6.2.1-ccs", "2.8.1"),
        ("8.1.0-ce", "4.1.0"),
        ("3.9.1-ce", "3.9.1"),
        ("3.4.1.2.3.0.0-123", "3.4.1"),
        ("2.5.0.7.1.7.0-551", "2.5.0"),
        ("3.6.2.redhat-00007", "3.6.2"),
        ("3.5.1-amzn-2", "3.5.1"),
        ("0.10.2.2", "0.10.2.2"),
    ],
)
def test_releases_of_vendors_are_kafkas(
    written: str, release: str, write: Writer, tmp_path: Path
) -> None:
    write.says(1, "[KafkaServer id=1] started (kafka.server.KafkaServer)")
    write.says(1, f"Kafka version: {written} (org.apache.kafka.common.utils.AppInfoParser)")

    assert release_of(read_logs([tmp_path])) == f"{release}:zookeeper"


def test_two_releases_of_the_same_rules_are_one(write: Writer, tmp_path: Path) -> None:
    for release in ("4.1.0", "4.1.1"):
        write.says(1, f"Kafka version: {release} (org.apache.kafka.common.utils.AppInfoParser)")
    write.says(1, "[BrokerServer id=1] started (x)")
    assert release_of(read_logs([tmp_path])) == "4.1.1"
    write.says(1, "Kafka version: 3.3.0 (org.apache.kafka.common.utils.AppInfoParser)")

    with pytest.raises(BadLogs, match=r"name 3\.3\.0, 4\.1\.0, 4\.1\.1; say with --kafka"):
        release_of(read_logs([tmp_path]))
