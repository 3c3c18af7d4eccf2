"""Traces about behaviours: what is looked for at their end, and what a replay of one amounts to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from waterline.checker.kafka.confirm import replay as replaying
from waterline.checker.kafka.confirm import waiting
from waterline.checker.kafka.confirm.counterexample import Counterexample, load_counterexample
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.evidence import Evidence
from waterline.checker.kafka.confirm.facts import ISR, WAITING
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.replay import Judgement, Run
from waterline.checker.kafka.confirm.stage import StepFailed
from waterline.checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS
from waterline.checker.kafka.confirm.waiting import (
    EndBy,
    Looked,
    ending_of,
    require_visible,
    watch_for,
)
from waterline.checker.kafka.confirm.wire import FETCH, OFFSET_FOR_LEADER_EPOCH, Record
from waterline.invariants import BEHAVIOURS
from waterline.invariants.outside import Seen

TRACES = Path(__file__).parents[3] / "examples" / "traces" / "scenarios"
OLD, REPAIRED = kafka_release("1.1.1"), kafka_release("2.1.1")
M1, M2, OTHER = Record(0, b"m1", 0), Record(1, b"m2", 0), Record(0, b"m2", 1)


def shown(name: str) -> Counterexample:
    return load_counterexample(TRACES / f"{name}.json")


def course(name: str, release: KafkaRelease) -> Course:
    found = shown(name)
    return course_of(found.finding.replayed, found.problem.model, found.claim, release)


@pytest.mark.parametrize(
    ("name", "breaking", "repaired"),
    [
        ("exit-again-and-again", "0.10.2.2", "2.1.1"),
        ("never-in-sync-again", "2.1.1", "2.6.1"),
        ("divergence-for-good", "0.10.2.2", "2.1.1"),
        ("stuck-below-min-isr", None, "2.8.2"),
    ],
)
def test_a_behaviour_breaks_on_the_way_of_a_release_that_has_it(
    name: str, breaking: str | None, repaired: str
) -> None:
    if breaking is not None:
        assert course(name, kafka_release(breaking)).breaks

    assert not course(name, kafka_release(repaired)).breaks


def looked_for(found: Looked, name: str, release: KafkaRelease, lag_ms: int = LAG_MS) -> Any:
    way = course(name, release)
    return Run(way, release, lag_ms, print)._judged_behaviour(found)


NEVER = Looked(None, 20.0, Evidence(("r1 fetched 7 times.",), (), False, False))
SOON = Looked(3.0, 3.0, Evidence((), (), False, False))


@pytest.mark.parametrize(
    ("release", "found", "judgement"),
    [
        (kafka_release("0.10.2.2"), NEVER, Judgement.CONFIRMED),
        (kafka_release("0.10.2.2"), SOON, Judgement.REFUTED),
        (REPAIRED, SOON, Judgement.HELD),
        (REPAIRED, NEVER, Judgement.NOT_STEERABLE),
    ],
    ids=["breaks-never", "breaks-soon", "stands-soon", "stands-never"],
)
def test_what_came_is_compared_with_what_the_model_says(
    release: KafkaRelease, found: Looked, judgement: Judgement
) -> None:
    assert looked_for(found, "exit-again-and-again", release).judgement is judgement


def test_for_ever_is_said_to_be_the_model_s_word_and_what_was_withheld_is_said() -> None:
    release = kafka_release("0.10.2.2")
    found = looked_for(NEVER, "exit-again-and-again", release, NO_LAG_MS)

    assert found.reason.endswith("did not come in 20 s; that it never does is the model's word")
    assert found.evidence.lines[0] == "r1 fetched 7 times."
    assert found.evidence.lines[1].startswith("Nobody could be found lagging")


def seen(**other: Any) -> Seen:
    told = {
        "leader": 0,
        "replicas": range(2),
        "logs": {0: [M1, M2], 1: [M1, M2]},
        "in_sync": frozenset({0, 1}),
        "fetched": frozenset({1}),
        "high_watermark": "2",
        "log_end": "2",
        "is_waiting": False,
        "leads": True,
    }
    return Seen(**(told | other))


def has_come(claim: str, what: Seen) -> bool | None:
    outside = next(each for each in BEHAVIOURS if each.name == claim).outside
    assert outside is not None
    return outside(what)


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        ("producers_answered", {"is_waiting": True}),
        ("high_watermark_catches_up", {"high_watermark": "1"}),
        ("divergence_ends", {"logs": {0: [M1, M2], 1: [OTHER]}}),
        ("divergence_ends", {"logs": {0: [M1], 1: [M1, M2]}}),
        ("truncation_ends", {"fetched": frozenset()}),
        ("live_broker_rejoins", {"in_sync": frozenset({0})}),
        ("isr_whole_again", {"in_sync": frozenset({0})}),
        ("logs_agree_again", {"logs": {0: [M1, M2], 1: [M1]}}),
        ("logs_agree_again", {"logs": {0: [M1, M2]}}),
        ("leader_again", {"leader": -1}),
        ("leader_again", {"leads": False}),
    ],
    ids=[
        "answer",
        "mark",
        "other",
        "more",
        "question",
        "alive",
        "whole",
        "short",
        "down",
        "nobody",
        "ignorant",
    ],
)
def test_what_a_claim_says_comes_has_come_or_not(claim: str, bad: dict[str, Any]) -> None:
    assert has_come(claim, seen())
    assert not has_come(claim, seen(**bad))


def test_a_broker_that_is_down_need_not_come_back_but_for_recovery() -> None:
    alone = seen(in_sync=frozenset({0}), logs={0: [M1]}, fetched=frozenset())

    assert has_come("live_broker_rejoins", alone)
    assert has_come("divergence_ends", alone)
    assert has_come("truncation_ends", alone)
    assert not has_come("isr_whole_again", alone)


def test_a_claim_whose_end_brokers_do_not_show_is_refused() -> None:
    claim = next(each for each in BEHAVIOURS if each.name == "decisions_learned")

    visible = (
        "producers_answered, high_watermark_catches_up, divergence_ends, truncation_ends, "
        "live_broker_rejoins, leader_again, isr_whole_again, logs_agree_again;"
    )
    with pytest.raises(CannotConfirm, match=f"what decisions_learned says comes .*{visible}"):
        require_visible(claim)


class Link:
    """A follower's requests, one after the other: of these kinds, again and again."""

    def __init__(self, *kinds: int) -> None:
        self.kinds = kinds
        self.asked = 0
        self.current: Any = None
        self._next()

    def _next(self) -> None:
        key = self.kinds[self.asked % len(self.kinds)]
        request = SimpleNamespace(key=key)
        self.current = SimpleNamespace(
            request=request, may_ask=False, may_answer=False, answer=None
        )

    def let_ask(self) -> None:
        self.asked += 1
        self.current.may_ask = True
        self.current.answer = "an answer"

    def let_answer(self) -> None:
        self._next()


class Pretended:
    """Two brokers, of which r1 follows; with `exits` it ends whenever it has been started."""

    replicas = range(2)
    ports = (0, 1)

    def __init__(self, link: Link, *, exits: bool = False) -> None:
        self.links = {(1, 0): link}
        self.brokers = self.controller = self
        self.exits = exits
        self.epochs_learned = {0: 3, 1: 2}
        self.asked = [SimpleNamespace(record=2, outcome="not_enough_replicas")]
        self.description: list[tuple[int, int]] = []
        self.started = 0
        self.killed = 0
        self.answered = 0
        self.up = not exits

    def answer_as_kafka(self) -> None:
        self.answered += 1

    def is_up(self, broker: int) -> bool:
        return broker == 0 or self.up

    def current(self) -> Any:
        return SimpleNamespace(leader=0, epoch=3)

    def log(self, broker: int) -> list[Record]:
        return [M1]

    def restart(self, broker: int) -> None:
        self.started += 1
        self.up = True

    def kill(self, broker: int) -> None:
        self.killed += 1
        self.up = False
        self.epochs_learned.pop(broker, None)

    def learn(self, broker: int, decision: Any, alive: list[int]) -> None:
        assert alive == [0, 1]
        self.description.append((broker, decision.epoch))
        self.epochs_learned[broker] = decision.epoch
        self.up = not self.exits


@pytest.fixture
def silent() -> set[int]:
    """Ports at which nobody listens any more."""
    return set()


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, silent: set[int]) -> Any:
    monkeypatch.setattr(waiting, "WATCH_SECONDS", 0.15)
    monkeypatch.setattr(waiting, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(waiting, "_PASS_SECONDS", 0.001)
    facts = {ISR: "r0", WAITING: "m1", "r0 log": "m1@0", "r1 log": "empty"}
    monkeypatch.setattr(waiting, "observe", lambda stage: facts)

    monkeypatch.setattr(waiting, "listens", lambda port: port not in silent)

    def looks(stage: Pretended, claim: str, end_by: EndBy = ()) -> Looked:
        asked = next(each for each in BEHAVIOURS if each.name == claim)
        return watch_for(stage, asked, end_by)  # type: ignore[arg-type]

    return looks


def test_a_follower_that_asks_again_and_again_is_counted(look: Any) -> None:
    stage = Pretended(Link(OFFSET_FOR_LEADER_EPOCH))
    found = look(stage, "truncation_ends")
    lines = found.evidence.lines

    assert found.came_after is None
    assert stage.description == [(1, 3)]
    assert f"r1 asked where its epoch ends {stage.links[1, 0].asked} times." in lines
    assert lines[-1] == "Still waiting for an acknowledgement: m1."
    assert lines[-2] == "m2 was answered: not_enough_replicas."
    assert "ISR r0; r0 up, log m1@0; r1 up, log empty." in lines[-3]


def test_what_comes_ends_the_looking(look: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WATCH_SECONDS", 60)
    found = look(Pretended(Link(OFFSET_FOR_LEADER_EPOCH, FETCH)), "truncation_ends")

    assert found.came_after is not None
    assert found.seconds < 60


def test_a_broker_that_ends_by_itself_is_started_again_but_not_without_end(look: Any) -> None:
    stage = Pretended(Link(FETCH), exits=True)
    found = look(stage, "isr_whole_again")

    assert stage.started == waiting.STARTS_MAX
    assert stage.killed == waiting.STARTS_MAX
    assert "r1 ended by itself 3 times, and was started 3 times." in found.evidence.lines


def test_a_broker_that_hangs_in_its_exit_has_ended(look: Any, silent: set[int]) -> None:
    stage = Pretended(Link(FETCH))
    stage.epochs_learned[1] = 3
    silent.add(stage.ports[1])
    found = look(stage, "isr_whole_again")

    assert stage.killed > 0
    assert stage.description[0] == (1, 3)
    assert any(line.startswith("r1 ended by itself") for line in found.evidence.lines)


def test_nobody_is_started_again_for_a_claim_about_liveness(look: Any) -> None:
    stage = Pretended(Link(FETCH), exits=True)
    stage.epochs_learned[1] = 3
    look(stage, "producers_answered")

    assert stage.started == 0


def test_a_run_looks_at_the_end_of_a_behaviour(monkeypatch: pytest.MonkeyPatch) -> None:
    release = kafka_release("0.10.2.2")
    way = course("exit-again-and-again", release)
    by: list[str] = []

    def looks(stage: object, claim: object, end_by: EndBy) -> Looked:
        by.extend(name for name, _ in end_by)
        return replace(NEVER, ended_by="Produce(leader=0)")

    monkeypatch.setattr(replaying, "watch_for", looks)
    monkeypatch.setattr(Run, "_take", lambda self, stage, moment: SimpleNamespace(complaint=""))
    found = Run(way, release, LAG_MS, lambda line: None).carried_out(None)  # type: ignore[arg-type]

    assert found.judgement is Judgement.CONFIRMED
    assert found.evidence is NEVER.evidence
    assert by == ["Produce(leader=0)"]
    assert (found.waited, found.ended_by) == (20.0, "Produce(leader=0)")


def test_a_wait_is_ended_by_what_ends_it_in_the_model(look: Any) -> None:
    stage = Pretended(Link(OFFSET_FOR_LEADER_EPOCH))

    def repair() -> None:
        stage.links[1, 0].kinds = (FETCH,)

    found = look(stage, "truncation_ends", [("Move(replica=1)", repair)])

    assert found.came_after is None
    assert found.seconds >= 0.15
    assert found.ended_by == "Move(replica=1)"
    assert found.evidence.lines[-1].startswith("It ended by Move(replica=1): it came within ")


def test_what_does_not_end_a_wait_is_told(look: Any) -> None:
    def fail() -> None:
        raise StepFailed("r1 registers", "nothing")

    nothing = look(Pretended(Link(OFFSET_FOR_LEADER_EPOCH)), "truncation_ends", [("Go()", int)])
    failed = look(Pretended(Link(OFFSET_FOR_LEADER_EPOCH)), "truncation_ends", [("Go()", fail)])

    assert (nothing.ended_by, failed.ended_by) == ("", "")
    assert nothing.evidence.lines[-1] == "The model has it end by Go(); it did not in 0 s."
    assert "which could not be taken: r1 registers; found: nothing" in failed.evidence.lines[-1]


@pytest.mark.parametrize(
    ("name", "release", "ended_by"),
    [
        ("stuck-below-min-isr", "4.2.0:elr", "Restart(replica=1)"),
        ("refused-expansion", "4.2.0:elr", "Produce(leader=1)"),
        ("never-in-sync-again", "2.1.1", "Crash(replica=1), Restart(replica=1)"),
        ("exit-again-and-again", "0.10.2.2", "Produce(leader=0)"),
    ],
)
def test_the_model_says_what_ends_a_wait(name: str, release: str, ended_by: str) -> None:
    assert str(ending_of(course(name, kafka_release(release)))) == ended_by
