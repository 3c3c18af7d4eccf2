"""Reassignments with a real controller: the judge of lost records, on logs that are made up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.experiments import reassignment, watched
from lab.experiments.future_log import _append
from lab.experiments.real_controller import KraftCluster
from lab.experiments.reassignment import main, overridden, stale_member
from lab.experiments.watched import NotReached, Partition, Verdict, Watched, judge_records
from tests.lab.experiments.codes import code_of
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.wire import Record

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("acknowledged", "read", "logs", "verdict"),
    [
        ("a b", "a b", {0: "a b", 1: "a b"}, Verdict.HELD),
        ("a b", "a b c", {0: "a b c", 1: "a b"}, Verdict.HELD),
        ("a b", "a", {0: "a", 1: "a"}, Verdict.CONFIRMED),
        ("a b", "", {0: "", 1: ""}, Verdict.CONFIRMED),
        ("a b", "a", {0: "a", 1: "a b"}, Verdict.UNDECIDED),
        ("a b", "", {0: "a b", 1: "a b"}, Verdict.UNDECIDED),
        ("", "", {0: "", 1: ""}, Verdict.UNDECIDED),
        ("", "a", {0: "a", 1: "a"}, Verdict.UNDECIDED),
    ],
)
def test_a_record_is_lost_if_no_log_has_it_and_no_consumer_reads_it(
    acknowledged: str, read: str, logs: dict[int, str], verdict: Verdict
) -> None:
    found = judge_records(
        acknowledged.split(), read.split(), {each: log.split() for each, log in logs.items()}
    )

    assert found.verdict is verdict


def test_lost_records_are_counted_and_named() -> None:
    found = judge_records(["a", "b", "c"], ["a"], {0: ["a"], 1: ["a", "refused"]})

    assert found.reason == "2 of 3 acknowledged records lost: in no log of any broker (b c)"


class Pretended:
    """Two brokers in sync; a leader that has been elected with one record of three."""

    ports = (7, 8)
    replicas = range(2)

    def __init__(self) -> None:
        self.answers = ["acknowledged", "acknowledged", "not_enough_replicas"]
        self.isr = [1]
        self.asked = 0

    def descriptions(self, ask: int) -> list[Any]:
        self.asked += 1
        if self.asked == 1:
            raise NoAnswer("it starts")
        if self.asked == 3:
            self.isr = [1, 0]
        return [
            SimpleNamespace(
                replica_nodes=[0, 1],
                leader_id=1,
                isr_nodes=self.isr,
                eligible_leader_replicas=None,
            )
        ]

    def configure(self, kind: int, name: str, key: str, value: str, *, ask: int) -> None:
        assert (key, value) == ("leader.replication.throttled.replicas", "")

    def produce(self, leader: int, record: bytes, *, partition: int) -> Any:
        name = self.answers.pop(0)
        code = 0 if name == "acknowledged" else code_of(name)
        part = SimpleNamespace(partition_responses=[SimpleNamespace(error_code=code)])
        return SimpleNamespace(
            is_over=lambda seconds=0: True, answer=SimpleNamespace(responses=[part])
        )

    def log(self, broker: int, partition: int) -> list[Record]:
        return [Record(0, b"m1 ......", 0)]


def test_the_document_shows_what_a_run_prints() -> None:
    assert watched.HEADER in (ROOT / "docs" / "losses.md").read_text(encoding="utf-8")


def test_what_no_producer_had_an_answer_for_cannot_be_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(watched, "consume", lambda port, *, index: ["m1 ......"])
    seen = Watched(Pretended(), said.append)  # type: ignore[arg-type]
    seen.produce(0, "m1", "m2", "m3")
    found = seen.judge(0, 1)

    assert seen.acknowledged == ["m1", "m2"]
    assert found.reason.startswith("1 of 2 acknowledged records lost")
    assert said[0].endswith(
        "no answer                            m1 to m3, acks=all: not_enough_replicas"
    )
    assert said[1].endswith("0 1        1       1 0        -      0 and 1 in sync")
    assert said[2].endswith("records: 1 in 0, 1 in 1; a consumer reads 1")


def test_a_step_that_does_not_come_about_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "STEP_SECONDS_MAX", 0.0)
    seen = Watched(Pretended(), print)  # type: ignore[arg-type]

    with pytest.raises(NotReached, match="1 leads no more: it did not come about in 0 s"):
        seen.until("1 leads no more", lambda now: now.leader != 1)


class Told:
    """A run in which every step comes about, and the end is as given."""

    ask = 0

    def __init__(
        self, end: Partition, *, names: str = "", reassignments: list[Any] | None = None
    ) -> None:
        self.end = end
        self.log = names.split()
        self.acknowledged = ["a", "b"]
        self.cluster = SimpleNamespace(reassignments=lambda ask: reassignments or [])

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: name

    def now(self) -> Partition:
        return self.end

    def names(self, broker: int) -> list[str]:
        return self.log


LEADERLESS = Partition((2, 0, 1), -1, (), (3,))


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassignment, "WATCH_SECONDS", 0.0)


def test_a_partition_without_a_leader_is_confirmed_where_a_replica_has_everything() -> None:
    found = stale_member(Told(LEADERLESS, names="a b"), is_control=False)  # type: ignore[arg-type]
    lacking = stale_member(Told(LEADERLESS, names="a"), is_control=False)  # type: ignore[arg-type]
    led = stale_member(
        Told(Partition((2, 0, 1), 2, (2,), ()), names="a b"),  # type: ignore[arg-type]
        is_control=True,
    )

    assert found.verdict is Verdict.CONFIRMED
    assert found.reason.endswith("nobody leads: the ELR is 3, which is no replica")
    assert lacking.verdict is Verdict.UNDECIDED
    assert led == "judge"


def test_a_reassignment_that_goes_on_is_confirmed_where_everybody_is_in_sync() -> None:
    going_on = [SimpleNamespace(adding_replicas=[3], removing_replicas=[3])]
    replicas = (0, 1, 2, 3)
    stuck = Told(Partition(replicas, 0, replicas, ()), reassignments=going_on)
    copying = Told(Partition(replicas, 0, (0, 1, 2), ()), reassignments=going_on)
    over = Told(Partition((0, 1, 2), 0, (0, 1, 2), ()))

    assert overridden(stuck, is_control=False).verdict is Verdict.CONFIRMED  # type: ignore[arg-type]
    assert overridden(copying, is_control=False).verdict is Verdict.UNDECIDED  # type: ignore[arg-type]
    assert overridden(over, is_control=False).verdict is Verdict.HELD  # type: ignore[arg-type]


def test_a_record_is_sent_again_until_the_leader_has_it() -> None:
    sent: list[str] = []
    seen = Told(LEADERLESS)

    def send(leader: int, name: str, *, size: int) -> Any:
        sent.append(name)
        if len(sent) == 3:
            seen.log.append(name)
        return SimpleNamespace(is_over=lambda: True, number=len(sent))

    seen.send = send  # type: ignore[attr-defined]
    found: Any = _append(seen, 0, "a1")  # type: ignore[arg-type]

    assert (found.number, sent) == (3, ["a1", "a1", "a1"])


def test_logs_copies_and_directories_are_found_on_disk(tmp_path: Path) -> None:
    cluster = KraftCluster(tmp_path, None, {}, brokers=1, directories=2)  # type: ignore[arg-type]
    first, second = tmp_path / "data-r0", tmp_path / "data-r0-1"
    (second / "t-0").mkdir(parents=True)
    future = first / "t-0.0af-future"
    future.mkdir(parents=True)
    (future / "00.log").write_bytes(b"12345")
    (second / "t-1.7b-delete").mkdir()
    text = (tmp_path / "r0.properties").read_text(encoding="utf-8")

    assert f"log.dirs={first},{second}\n" in text
    assert (cluster.has_log(0), cluster.has_log(0, 1)) == (True, False)
    assert cluster.future_log_bytes(0) == 5
    assert cluster.take_directory(0) == second.name
    assert not cluster.has_log(0)
    assert f"log.dirs={first}\n" in (tmp_path / "r0.properties").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kafka", "said"),
    [
        ("3.9.1", "--kafka is 3.9.1; these runs need eligible leader replicas, which new clusters"),
        ("4.2.0:kraft", "have from 4.1 on: name 4.1.0 or later"),
        ("9.9.9", "--kafka is 9.9.9: Kafka 9.9.9 is not modelled"),
    ],
)
def test_a_release_without_them_is_refused_in_a_line(
    kafka: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--kafka", kafka, "--run", "cancel"])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("verdict", "expect", "code"),
    [
        (Verdict.CONFIRMED, "", 0),
        (Verdict.HELD, "", 30),
        (Verdict.UNDECIDED, "", 32),
        (Verdict.HELD, "held", 0),
        (Verdict.CONFIRMED, "held", 3),
        (Verdict.UNDECIDED, "confirmed", 3),
    ],
)
def test_the_exit_code_is_the_verdict_or_whether_it_was_expected(
    verdict: Verdict,
    expect: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = watched.Outcome(verdict, "so it was")
    monkeypatch.setattr(reassignment, "carried_out", lambda *_, **__: found)
    given = ["--expect", expect] if expect else []

    assert main(["--kafka", "4.4.0", "--run", "overridden", *given]) == code
    assert f"{verdict.name} on Kafka 4.4.0, with ELR in 0 s: so it was." in capsys.readouterr().out
