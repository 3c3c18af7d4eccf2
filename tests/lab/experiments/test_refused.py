"""C43 behind a gate, on a cluster that only pretends: every verdict, and what leads to it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.record.memory_records import MemoryRecords

from lab.experiments import refused
from lab.experiments.command import release_with_kraft
from lab.experiments.real_controller import KraftCluster
from lab.experiments.refused import ASKS
from tests.lab.experiments.codes import code_of
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.facts import ACKNOWLEDGED, WAITING
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.confirm.stage import describe_answer
from waterline.checker.kafka.confirm.wire import Record, one_record

RELEASE = release_with_kraft("4.1.0")
SHOWN = Path(__file__).parents[1] / "recorded" / "refused-expansion-4.1.0.json"
"""What a search finds of C43 under the rules of this release: see tests/verify."""
M1 = Record(0, b"m1", 1)


class Pretended:
    """Two brokers, and the gate to their controller, that do what C43 says of them.

    With `tries_again` a leader tries its high watermark after a refusal too.
    """

    replicas = range(2)

    def __init__(self, *, tries_again: bool = False) -> None:
        self.tries_again = tries_again
        self.records: list[Record] = []
        self.isr = [0, 1]
        self.up = {0, 1}
        self.granted = False
        self.mark = 0
        self.current: Any = None

    # The cluster.

    def create_topic(self, leader_first: list[int], min_insync_replicas: int) -> None:
        assert leader_first == [0, 1]

    def kill(self, broker: int) -> None:
        self.up.discard(broker)
        self.isr = [1]
        if self.granted:
            self.mark = len(self.records)

    def start_again(self, broker: int) -> None:
        self.up.add(broker)
        members = [SimpleNamespace(broker_id=each) for each in (1, 0)]
        asked = SimpleNamespace(new_isr_with_epochs=members)
        body = SimpleNamespace(topics=[SimpleNamespace(partitions=[asked])])
        self.current = SimpleNamespace(request=SimpleNamespace(body=body), answer=None)

    def pause(self, broker: int) -> None:
        assert broker == 0

    def lives(self, ask: int, broker: int) -> bool:
        return broker in self.up

    def is_up(self, broker: int) -> bool:
        return broker in self.up

    def leader_and_isr(self, ask: int) -> tuple[int, list[int]]:
        return 1, self.isr

    def produce(
        self, leader: int, record: bytes, *, producer: int = -1, timeout_seconds: float = 0
    ) -> Producer:
        if self.records:
            self.mark = 1
        else:
            self.records.append(M1)
        return Producer(self)

    def log(self, broker: int) -> list[Record]:
        return self.records if broker == 1 else []

    def high_watermark(self, broker: int) -> str:
        return str(self.mark)

    # The gate.

    def wait_for(self, wanted: Any, seconds: float) -> bool:
        return bool(wanted(self.current))

    def let_ask(self) -> None:
        self.granted = 0 in self.up
        name = "none" if self.granted else "ineligible_replica"
        told = SimpleNamespace(error_code=code_of(name))
        self.current.answer = SimpleNamespace(topics=[SimpleNamespace(partitions=[told])])
        if self.tries_again:
            self.mark = 1

    def open(self) -> None:
        self.current = None


class Producer:
    """What `produce` gives: an answer once the high watermark is above the record."""

    def __init__(self, cluster: Pretended) -> None:
        self._cluster = cluster

    def is_over(self, seconds: float = 0) -> bool:
        return self._cluster.mark > 0

    @property
    def answer(self) -> Any:
        told = SimpleNamespace(error_code=0)
        return SimpleNamespace(responses=[SimpleNamespace(partition_responses=[told])])


@pytest.fixture(scope="module")
def course() -> Course:
    shown = load_counterexample(SHOWN, None)
    return course_of(shown.finding.replayed, shown.problem.model, shown.claim, RELEASE)


@pytest.fixture
def carry_out(course: Course, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(refused, "FETCH_WAIT_SECONDS", 0)
    monkeypatch.setattr(refused, "STEP_SECONDS_MAX", 0.2)
    monkeypatch.setattr(refused, "WATCH_SECONDS", 0.1)

    def carried_out(cluster: Pretended, *, is_control: bool = False) -> Confirmation:
        @contextlib.contextmanager
        def started(*_: object, **told: object) -> Iterator[tuple[Pretended, Pretended]]:
            assert told == {"brokers": 2, "timeouts": {}}
            yield cluster, cluster

        monkeypatch.setattr(refused, "started_behind_gate", started)
        return refused.confirm_by_gate(
            course, Site(RELEASE, [], Path(), print, print), is_control=is_control
        )

    return carried_out


def test_a_record_that_nobody_tries_again_is_confirmed(carry_out: Any) -> None:
    found = carry_out(Pretended())

    assert found.judgement is Judgement.CONFIRMED
    assert [step.kafka[ASKS] for step in found.steps] == ["r0 r1", "r0 r1", "r0 r1", "none"]
    assert [step.kafka[WAITING] for step in found.steps] == ["none", "m1", "m1", "m1"]
    assert found.evidence.lines[0].endswith("INELIGIBLE_REPLICA.")
    assert "its high watermark: 0; m1: waiting." in found.evidence.lines[1]
    assert "its high watermark: 1; m1: acknowledged;" in found.evidence.lines[2]


def test_a_leader_that_tries_again_refutes_it(carry_out: Any) -> None:
    found = carry_out(Pretended(tries_again=True))

    assert (found.judgement, found.step) == (Judgement.REFUTED, 4)
    assert found.steps[3].kafka[ACKNOWLEDGED] == "m1"
    assert "r1 HW: 0 in the model, 1 in Kafka" in found.reason


def test_a_record_that_comes_while_somebody_looks_refutes_it(
    carry_out: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Pretended()
    monkeypatch.setattr(
        refused._Experiment,
        "_watch",
        lambda self, is_over: setattr(cluster, "mark", 1),
    )
    found = carry_out(cluster)

    assert (found.judgement, found.step) == (Judgement.REFUTED, 0)
    assert found.reason == "m1 was acknowledged, high watermark 1"


def test_a_record_is_acknowledged_where_the_controller_agrees(carry_out: Any) -> None:
    found = carry_out(Pretended(), is_control=True)

    assert found.judgement is Judgement.HELD
    assert len(found.steps) == 2


def test_a_control_that_is_refused_says_nothing(
    carry_out: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused.Refusal, "answer", lambda self: refused.REFUSED)
    found = carry_out(Pretended(), is_control=True)

    assert found.judgement is Judgement.NOT_STEERABLE


def test_a_leader_that_asks_nothing_is_told(carry_out: Any) -> None:
    cluster = Pretended()
    cluster.wait_for = lambda wanted, seconds: False  # type: ignore[method-assign]

    with pytest.raises(BrokerFailed, match="r1 did not ask the controller for r0"):
        carry_out(cluster)


@pytest.mark.parametrize("advertises", [True, False])
def test_everybody_finds_the_controller_behind_the_gate(advertises: bool, tmp_path: Path) -> None:
    ports: list[int] = []

    def gate(port: int) -> Any:
        ports.append(port)
        return SimpleNamespace(port=7)

    KraftCluster(tmp_path, None, {}, brokers=2, gate=gate, advertises=advertises)  # type: ignore[arg-type]
    told = {file.stem: file.read_text() for file in sorted(tmp_path.glob("*.properties"))}

    assert sorted(told) == ["controller", "r0", "r1"]
    assert all("voters=3000@127.0.0.1:7\n" in text for text in told.values())
    assert f"\nlisteners=CONTROLLER://127.0.0.1:{ports[0]}\n" in told["controller"]
    assert ("advertised.listeners=CONTROLLER://127.0.0.1:7\n" in told["controller"]) is advertises


def test_a_record_of_an_idempotent_producer_says_which_one_it_is() -> None:
    [known] = MemoryRecords(one_record(b"m1", magic=2, producer=7))
    [nobody] = MemoryRecords(one_record(b"m1", magic=2))

    assert (known.producer_id, known.base_sequence) == (7, 0)
    assert (nobody.producer_id, nobody.base_sequence) == (-1, -1)


def test_a_producer_that_was_not_asked_yet_waits() -> None:
    assert describe_answer(None) == "waiting"
