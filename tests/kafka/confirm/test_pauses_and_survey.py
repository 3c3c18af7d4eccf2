"""C21 by pauses, on a cluster that only pretends, and the document of a survey."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from checker.kafka.confirm import paused, survey
from checker.kafka.confirm.counterexample import searched
from checker.kafka.confirm.course import course_of
from checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoJars
from checker.kafka.confirm.kraft import cluster_id
from checker.kafka.confirm.releases import KafkaRelease, kafka_release, require_steerable
from checker.kafka.confirm.replay import Confirmation, Judgement
from checker.kafka.confirm.site import Site
from checker.kafka.confirm.survey import Cell, read_cells, surveyed, to_markdown
from checker.kafka.confirm.wire import Record
from checker.kafka.scenarios.catalogue import find_scenario

RELEASE = kafka_release("4.0.0")
M1 = Record(0, b"m1", 0)


@pytest.mark.parametrize("first", [0x00, 0x7F, 0xF7, 0xF8, 0xFB, 0xFC, 0xFF])
def test_no_cluster_is_named_like_an_option(first: int) -> None:
    name = cluster_id(UUID(bytes=bytes([first]) + bytes(15)))

    assert len(name) == 22
    assert not name.startswith("-")


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
        told = SimpleNamespace(error_code=SimpleNamespace(name=name) if name != "none" else None)
        return SimpleNamespace(responses=[SimpleNamespace(partition_responses=[told])])


@pytest.fixture
def carry_out(monkeypatch: pytest.MonkeyPatch) -> Any:
    shown = searched(find_scenario("C21"), RELEASE.rules, lambda line: None, always=True)
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
        monkeypatch.setattr(paused, "consumed", lambda port: read)
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


@pytest.mark.parametrize("scenario", ["kip-101-loss", None])
def test_a_real_controller_is_steered_for_two_scenarios_alone(scenario: str | None) -> None:
    require_steerable(RELEASE, "stale-remote-leo")
    require_steerable(RELEASE, "refused-expansion")
    require_steerable(kafka_release("3.9.1"), scenario)

    with pytest.raises(CannotConfirm, match="can only be stopped and continued"):
        require_steerable(RELEASE, scenario)


CELLS = [
    Cell("kip-101-loss", "0.10.2.2", "CONFIRMED", 0, "lost", 5.0),
    Cell("kip-101-loss", "0.11.0.3", "HELD", 10, "they part", 6.0),
    Cell("zombie-follower", "0.11.0.3", "NOT_STEERABLE", 7, "too early", 7.0),
]


def test_the_document_has_a_row_an_entry_and_says_why() -> None:
    text = to_markdown(CELLS, ["0.10.2.2", "0.11.0.3"], ["9.9.9"])

    assert "1 CONFIRMED, 1 holds, 0 REFUTED, 1 not steerable." in text
    assert "| C1 | kip-101-loss | CONFIRMED | holds |" in text
    assert "| C5 | zombie-follower | - | not steerable 7 |" in text
    assert "* zombie-follower on 0.11.0.3: too early." in text
    assert "Not to be had: 9.9.9." in text


def test_a_survey_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, str]] = []

    def pretend(scenario: Any, release: KafkaRelease, *_: object) -> Cell:
        tried.append((scenario.name, release.name))
        if release.name == "1.1.9":
            raise NoJars("there is no Kafka 1.1.9")
        return Cell(scenario.name, release.name, "CONFIRMED", 0, "lost", 1.0)

    monkeypatch.setattr(survey, "_tried", pretend)
    scenarios = [find_scenario("C1"), find_scenario("C2")]
    releases = [kafka_release("0.10.2.2"), kafka_release("1.1.9")]

    def survey_all(those: list[Any]) -> tuple[list[Cell], list[str]]:
        return surveyed(
            those,
            releases,
            results=tmp_path / "results",
            jars=None,
            announce=lambda line: None,
            report=lambda line: None,
        )

    survey_all(scenarios[:1])
    cells, missing = survey_all(scenarios)

    assert [cell.scenario for cell in cells] == ["kip-101-loss", "kip-101-divergence"]
    assert missing == ["1.1.9"]
    assert tried == [
        ("kip-101-loss", "0.10.2.2"),
        ("kip-101-loss", "1.1.9"),
        ("kip-101-divergence", "0.10.2.2"),
        ("kip-101-loss", "1.1.9"),
    ]
    assert read_cells(tmp_path / "results") == cells


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"scenario": 1}\n')

    with pytest.raises(CannotConfirm, match="holds no results of a survey"):
        read_cells(tmp_path / "other")


def test_a_reason_stands_once_with_all_that_have_it() -> None:
    held = [
        Cell(scenario, release, "HELD", 10, "the same", 1.0)
        for scenario in ("kip-101-loss", "kip-101-divergence")
        for release in ("2.1.1", "2.8.2")
    ]
    text = to_markdown([*CELLS, *held], ["0.10.2.2", "0.11.0.3", "2.1.1", "2.8.2"], [])

    assert "* kip-101-loss, kip-101-divergence on 2.1.1, 2.8.2: the same." in text
    assert "* kip-101-loss on 0.11.0.3: they part." in text


def test_what_a_real_controller_decides_is_not_tried_and_is_told(tmp_path: Path) -> None:
    scenarios = [find_scenario("C1"), find_scenario("C2")]
    results = tmp_path / "results.jsonl"
    cells, missing = surveyed(
        scenarios,
        [RELEASE],
        results=results,
        jars=None,
        announce=lambda line: None,
        report=lambda line: None,
    )
    text = to_markdown(cells, ["4.0.0"], missing)

    assert [cell.shown for cell in cells] == ["not steerable", "not steerable"]
    assert "| C1 | kip-101-loss | not steerable |" in text
    assert "on 4.0.0: brokers have a controller of their own" in text
    assert not results.exists()


def test_rules_without_a_name_are_searched_before_another_version_is_taken() -> None:
    nameless = kafka_release("2.0.1").rules
    own = searched(find_scenario("last-replica-standing"), nameless, lambda line: None)
    others = searched(find_scenario("kip-279"), nameless, lambda line: None)

    assert own.problem.model.version == nameless
    assert others.problem.model.version == "epoch"
