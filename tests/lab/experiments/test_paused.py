"""C21 by pauses, on a cluster that only pretends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.experiments import paused
from lab.experiments.command import release_with_kraft
from tests.lab.experiments.codes import code_of
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.kafka.confirm.course import course_of
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.confirm.wire import Record

RELEASE = release_with_kraft("4.0.0")
SHOWN = Path(__file__).parents[1] / "recorded" / "stale-remote-leo-4.0.0.json"
"""What a search finds of C21 under the rules of this release: see tests/verify."""
M1 = Record(0, b"m1", 0)


class Pretended:
    """Three brokers that do what C21 says of them, or `keeps`: r1 truncates nothing."""

    ports = (0, 0, 0)
    replicas = range(3)

    def __init__(self, *, keeps: bool = False) -> None:
        self.keeps = keeps
        self.logs: dict[int, list[Record]] = {0: [], 1: [], 2: []}
        self.caches = {0: [(0, 0)], 1: [(0, 0)], 2: [(0, 0)]}
        self.still: set[int] = set()
        self.down: set[int] = set()
        self.heard_of_1 = False
        self.answer = ""

    def create_topic(self, leader_first: list[int], min_insync_replicas: int) -> None:
        assert leader_first[0] == 0

    def prefer(self, broker: int, others: list[int]) -> None:
        assert broker == 2

    def pause(self, broker: int) -> None:
        self.still.add(broker)

    def resume(self, broker: int) -> None:
        self.still.discard(broker)
        if broker == 0 and self.down:
            self.answer = "none"
            self.caches[0].append((2, 1))
        elif broker == 0:
            self.heard_of_1 = True
            self.logs[0].clear()
            self.answer = "not_leader_or_follower"

    def elect_preferred(self, ask: int) -> None:
        assert self.still == {0}
        if not self.keeps:
            self.logs[1].clear()

    def end(self, broker: int) -> None:
        self.down.add(broker)

    def leads(self, ask: int, broker: int, seconds: float) -> bool:
        return self.down == {0, 2}

    def produce(self, leader: int, record: bytes) -> Producer:
        self.logs[0].append(M1)
        self.logs[1].append(M1)
        return Producer(self)

    def log(self, broker: int) -> list[Record]:
        return self.logs[broker]

    def epochs(self, broker: int) -> list[tuple[int, int]]:
        return self.caches[broker]


class Producer:
    """What `produce` gives: the answer, once there is one."""

    def __init__(self, cluster: Pretended) -> None:
        self._cluster = cluster

    def is_over(self, seconds: float = 0) -> bool:
        return bool(self._cluster.answer)

    @property
    def answer(self) -> Any:
        name = self._cluster.answer
        told = SimpleNamespace(error_code=code_of(name))
        return SimpleNamespace(responses=[SimpleNamespace(partition_responses=[told])])


@pytest.fixture
def carry_out(monkeypatch: pytest.MonkeyPatch) -> Any:
    shown = load_counterexample(SHOWN, None)
    course = course_of(shown.finding.replayed, shown.problem.model, shown.claim, RELEASE)
    monkeypatch.setattr(paused, "LONG_ENOUGH_SECONDS", 0)
    monkeypatch.setattr(paused, "STEP_SECONDS_MAX", 0.2)

    def carried_out(
        cluster: Pretended, *, read: list[str], is_control: bool = False
    ) -> Confirmation:
        class Started:
            def __enter__(self) -> Pretended:
                return cluster

            def __exit__(self, *_: object) -> None:
                """Nothing runs."""

        monkeypatch.setattr(paused, "started", lambda *_: Started())
        monkeypatch.setattr(paused, "consume", lambda port: read)
        return paused.confirm_by_pauses(
            course, Site(RELEASE, [], Path(), print, print), is_control=is_control
        )

    return carried_out


def test_a_leader_that_stood_still_loses_what_it_acknowledged(carry_out: Any) -> None:
    found = carry_out(Pretended(), read=[])

    assert found.judgement is Judgement.CONFIRMED
    assert len(found.steps) == 4
    assert found.steps[2].kafka["r0 epoch cache"] == "0 from 0, 2 from 1"
    assert found.evidence.lost == ("m1",)


def test_a_record_that_is_read_refutes_it(carry_out: Any) -> None:
    found = carry_out(Pretended(), read=["m1"])

    assert found.judgement is Judgement.REFUTED


def test_an_epoch_that_r0_should_have_missed_is_a_difference(carry_out: Any) -> None:
    cluster = Pretended()
    cluster.caches[0] = [(0, 0), (1, 1)]
    found = carry_out(cluster, read=[])

    assert (found.judgement, found.step) == (Judgement.REFUTED, 1)
    assert found.reason.startswith("r0 epoch cache: 0 from 0 in the model")


def test_a_leader_that_heard_of_the_epoch_acknowledges_nothing(carry_out: Any) -> None:
    cluster = Pretended()
    found = carry_out(cluster, read=[], is_control=True)

    assert found.judgement is Judgement.HELD
    assert cluster.heard_of_1
    assert "not_leader_or_follower" in found.evidence.lines[0]


def test_a_follower_that_does_not_truncate_is_told(carry_out: Any) -> None:
    with pytest.raises(BrokerFailed, match="r1 truncates m1: it did not happen"):
        carry_out(Pretended(keeps=True), read=["m1"])


def test_a_release_whose_kraft_is_a_preview_has_no_experiment() -> None:
    assert release_with_kraft("3.3.2").rules == "kraft"
    with pytest.raises(CannotConfirm, match=r"3\.2\.3; KRaft is ready from 3\.3 on"):
        release_with_kraft("3.2.3")
