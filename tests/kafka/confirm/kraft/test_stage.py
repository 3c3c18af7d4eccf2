"""Brokers learn what is revealed to them, and nothing is over before they say so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.kafka.confirm.kraft.fake_cluster import FakeBrokers
from tests.kafka.confirm.quorum.fake_broker import SECONDS
from waterline.checker.kafka.confirm import stage as common
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.kraft import mapping
from waterline.checker.kafka.confirm.kraft import stage as kraft_stage
from waterline.checker.kafka.confirm.kraft.controller import KraftController
from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.kraft.stage import KraftStage
from waterline.checker.kafka.confirm.mapping import Act
from waterline.checker.kafka.confirm.observing import read_checkpoint
from waterline.checker.kafka.confirm.quorum.controller import INELIGIBLE_REPLICA, NEW_LEADER_ELECTED
from waterline.checker.kafka.confirm.quorum.state import Assignment
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.stage import NotHeld, StepFailed
from waterline.model.message.terms import GRANTED, NO_ANSWER, REPLAYS_OLDER, REPLAYS_SAME

BOTH, R0, R1, NOBODY = 0b11, 0b01, 0b10, 0
DAY_MS = 86_400_000


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBrokers]:
    monkeypatch.setattr(common, "FIRST_CHECKPOINT_SECONDS_MAX", 0)
    made = FakeBrokers(tmp_path, 2)
    with made.quorum:
        yield made
        made.end_all()


@pytest.fixture
def stage(cluster: FakeBrokers) -> KraftStage:
    """Two brokers that know of a topic, which r0 leads in epoch 0."""
    controller = KraftController(cluster.quorum, [0, 1])
    made = KraftStage(kafka_release("4.2.0:elr"), cluster, controller, {})  # type: ignore[arg-type]
    made.start_all()
    controller.create_topic(0, {}, [0, 1])
    for broker in made.replicas:
        made.learn(broker, controller.current(), [0, 1])
    return made


def state(**other: Any) -> SimpleNamespace:
    usual: dict[str, Any] = {
        "leader": 0,
        "epoch": 0,
        "isr": BOTH,
        "elr": NOBODY,
        "unclean": [1, 1],
        "known_isr": [BOTH, NOBODY],
        "pending_isr": [NOBODY, NOBODY],
        "answer": [NO_ANSWER, NO_ANSWER],
        "role": [NOBODY, NOBODY],
    }
    return SimpleNamespace(**(usual | other))


def take(
    stage: KraftStage,
    action: str,
    before: Any,
    after: Any,
    *,
    lag_ms: int = DAY_MS,
    waits: int = 0,
    reassignments: int = 0,
    **arguments: int,
) -> None:
    act = Act(
        arguments=arguments,
        before=before,
        after=after,
        settings=SimpleNamespace(  # type: ignore[arg-type]
            late_replay=0, caught_up_wait=waits, reassignments=reassignments
        ),
        acks="all",
        lag_ms=lag_ms,
    )
    does = KRAFT_ROWS[action].does
    assert does is not None
    does(stage, act)


@pytest.fixture(autouse=True)
def quick_and_with_elr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "has", lambda settings, feature: True)
    monkeypatch.setattr(mapping, "_EXTRA_SECONDS", 0.2)
    monkeypatch.setattr(mapping, "_LOOK_SECONDS", 0.1)


def names_read(stage: KraftStage, broker: int) -> list[str]:
    lives: Any = stage.brokers
    return list(lives.lives[broker].read)


def test_a_decision_reaches_nobody_before_it_is_learned(stage: KraftStage) -> None:
    take(stage, "Move", state(), state(leader=1, epoch=1), replica=1)
    before = names_read(stage, 1)
    stage.learn(1, stage.controller.current(), [0, 1])

    assert "PartitionChangeRecord" not in before
    assert names_read(stage, 1)[-1] == "PartitionChangeRecord"
    assert "PartitionChangeRecord" not in names_read(stage, 0)
    assert stage.epochs_learned == {0: 0, 1: 1}


def test_a_decision_of_the_past_is_a_shorter_log(stage: KraftStage) -> None:
    for leader, epoch in ((1, 1), (0, 2)):
        take(stage, "Move", state(), state(leader=leader, epoch=epoch), replica=leader)
    stage.learn(1, stage.controller.decisions[1], [0, 1])
    late = names_read(stage, 1).count("PartitionChangeRecord")
    stage.learn(1, stage.controller.current(), [0, 1])

    assert late == 1
    assert names_read(stage, 1).count("PartitionChangeRecord") == 2


def test_an_epoch_that_a_step_skips_has_no_leader(stage: KraftStage) -> None:
    end = stage.quorum.end
    take(stage, "Move", state(), state(leader=1, epoch=2), replica=1)

    assert stage.quorum.end == end + 2
    assert stage.controller.current().epoch == 2


def test_records_about_brokers_reach_at_once_who_knows_all_decisions(stage: KraftStage) -> None:
    take(stage, "Move", state(), state(leader=1, epoch=1), replica=1)
    stage.learn(1, stage.controller.current(), [0, 1])
    informed = stage.controller.informed_brokers()
    end = stage.quorum.end
    take(stage, "Register", state(leader=1, epoch=1), state(leader=1, epoch=1), replica=0)

    assert informed == [1]
    assert stage.quorum.broker(1).may_know == stage.quorum.end == end + 1
    known = stage.quorum.broker(0).may_know
    assert known is not None
    assert known < end


def test_with_the_wait_for_who_caught_up_a_leader_reads_of_a_fencing_when_the_trace_says_so(
    stage: KraftStage,
) -> None:
    alone = state(isr=R0)
    take(stage, "Move", state(), alone, replica=1)
    stage.learn(0, stage.controller.current(), [0, 1])
    take(stage, "Fence", alone, alone, waits=1, replica=1)
    before = names_read(stage, 0).count("BrokerRegistrationChangeRecord")
    take(stage, "LearnBrokers", alone, alone, waits=1, leader=0)

    assert before == 2, "both were unfenced at the start"
    assert names_read(stage, 0)[-1] == "BrokerRegistrationChangeRecord"
    assert names_read(stage, 0).count("BrokerRegistrationChangeRecord") == before + 1


def test_who_does_not_know_a_decision_cannot_read_of_brokers_alone(stage: KraftStage) -> None:
    take(stage, "Fence", state(), state(isr=R0), waits=1, replica=1)

    with pytest.raises(NotHeld, match="r0 would read a decision on the partition"):
        take(stage, "LearnBrokers", state(isr=R0), state(isr=R0), waits=1, leader=0)


def test_a_broker_that_restarts_registers_anew_and_is_unfenced(stage: KraftStage) -> None:
    stage.kill(1)
    take(stage, "Fence", state(), state(isr=R0), replica=1)
    fenced = stage.quorum.broker(1).is_fenced
    epoch = stage.quorum.broker(1).epoch
    take(stage, "Restart", state(isr=R0), state(isr=R0), replica=1)

    assert fenced
    assert not stage.quorum.broker(1).is_fenced
    assert stage.quorum.broker(1).epoch > epoch
    assert stage.epochs_learned == {0: 0}


def test_an_end_that_the_model_takes_for_clean_must_have_been_clean(stage: KraftStage) -> None:
    stage.kill(1)
    with pytest.raises(StepFailed, match="without a clean shutdown"):
        take(stage, "Restart", state(unclean=[0, 0]), state(), replica=1)


def test_a_controlled_shutdown_waits_for_the_controller(stage: KraftStage) -> None:
    take(stage, "BeginShutdown", state(), state(isr=R0), replica=1)
    is_up_still = stage.brokers.is_up(1)
    stage.shut_down(1)
    take(stage, "Restart", state(isr=R0, unclean=[0, 0]), state(isr=R0), replica=1)

    assert is_up_still
    assert stage.quorum.broker(1).previous_epoch >= 0


def replicas(assigned: int, adding: int = NOBODY, removing: int = NOBODY) -> dict[str, int]:
    return {"assigned": assigned, "adding": adding, "removing": removing}


def test_a_reassignment_is_a_record_that_removes_and_adds_a_replica(stage: KraftStage) -> None:
    alone = state(leader=1, epoch=1, isr=R1, elr=R0, **replicas(R1))
    take(stage, "Reassign", state(**replicas(BOTH)), alone, reassignments=1)
    removed = stage.controller.current()
    wanted = state(leader=1, epoch=1, isr=R1, elr=R0, **replicas(BOTH, adding=R0))
    take(stage, "Reassign", alone, wanted, reassignments=1)
    now = stage.quorum.partition

    assert (removed.leader, removed.epoch, removed.isr, removed.replicas) == (1, 1, (1,), (1,))
    assert now.assignment == Assignment((0, 1), adding=(0,))
    assert (now.elr, now.leader_epoch, now.epoch) == ([0], 1, 2)
    assert len(now.directories) == 2


def test_a_broker_that_is_no_replica_any_more_must_delete_its_log(
    stage: KraftStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kraft_stage, "STEP_SECONDS_MAX", 0.1)
    alone = state(leader=1, epoch=1, isr=R1, **replicas(R1))
    take(stage, "Reassign", state(**replicas(BOTH)), alone, reassignments=1)
    log = stage.brokers.partition(0)
    log.mkdir()
    with pytest.raises(StepFailed, match="r0 deletes its log; found: it has one still"):
        stage.learn(0, stage.controller.current(), [0, 1])
    log.rmdir()
    stage.learn(0, stage.controller.current(), [0, 1])

    assert stage.epochs_learned == {0: 1, 1: 0}
    assert read_checkpoint(stage.brokers.checkpoint_file(0)) == 0


def test_who_was_removed_while_down_takes_its_log_away_before_the_model_does() -> None:
    unless = KRAFT_ROWS["Restart"].unless
    assert unless is not None

    assert unless(state(leo=[1, 1], **replicas(R1)), {"replica": 0}).startswith("r0 is no replica")
    assert unless(state(leo=[0, 1], **replicas(R1)), {"replica": 0}) == ""
    assert unless(state(leo=[1, 1], **replicas(BOTH)), {"replica": 0}) == ""
    assert unless(state(leo=[1, 1], **replicas(NOBODY)), {"replica": 0}) == "", "none is reassigned"


class Leader:
    """A leader that asks for an ISR in the background."""

    def __init__(self, stage: KraftStage, isr: list[int]) -> None:
        self.answers: list[Any] = []
        lives: Any = stage.brokers
        lives.lives[0].asks.alter(stage.quorum, isr, self.answers)
        self._came = threading.Event()

    def hears(self) -> Any:
        for _ in range(int(SECONDS * 100)):
            if self.answers:
                return self.answers[0].topics[0].partitions[0]
            self._came.wait(0.01)
        raise AssertionError("no answer came")


ASKED = {"pending_isr": [R0, NOBODY]}


def test_a_change_of_the_isr_is_granted_when_the_model_does(stage: KraftStage) -> None:
    leader = Leader(stage, [0])
    take(stage, "ShrinkIsr", state(), state(**ASKED), lag_ms=0, leader=0, follower=1)
    before = stage.controller.current().isr
    take(stage, "AlterPartition", state(**ASKED), state(isr=R0), leader=0)

    assert before == (0, 1)
    assert stage.controller.current().isr == (0,)
    assert (leader.hears().error_code, leader.hears().isr) == (0, [0])


@pytest.mark.parametrize("is_behind", [False, True])
def test_a_leader_that_is_granted_what_it_asks_for_hears_of_brokers_afterwards(
    is_behind: bool, stage: KraftStage
) -> None:
    """A leader adds nobody to the ISR whose new registration it has not read."""
    if is_behind:
        take(stage, "Move", state(), state(leader=1, epoch=1), replica=1)
    Leader(stage, [0])
    after = state(isr=R0) if not is_behind else state(leader=1, epoch=1, isr=R0)
    take(stage, "AlterPartition", state(**ASKED), after, leader=0)

    assert (0 in stage.controller.informed_brokers()) is not is_behind
    assert 1 not in stage.controller.informed_brokers()


def test_a_leader_learns_of_an_epoch_that_its_own_request_raised_when_the_trace_says_so(
    stage: KraftStage,
) -> None:
    """Until 3.5 a smaller ISR raises the epoch: the leader passes over the answer."""
    Leader(stage, [0])
    take(stage, "AlterPartition", state(**ASKED), state(isr=R0, epoch=1), leader=0)

    assert stage.controller.current().epoch == 1
    assert 0 not in stage.controller.informed_brokers()

    stage.learn(0, stage.controller.current(), [0, 1])

    assert 0 in stage.controller.informed_brokers()


def test_a_leader_whose_request_completes_its_own_removal_hears_that_another_leads(
    stage: KraftStage,
) -> None:
    leader = Leader(stage, [0, 1])
    before = state(pending_isr=[BOTH, NOBODY], **replicas(BOTH, adding=R1, removing=R0))
    take(stage, "Reassign", state(**replicas(BOTH)), before, reassignments=1)
    after = state(leader=1, epoch=1, isr=R1, **replicas(R1))
    take(stage, "AlterPartition", before, after, reassignments=1, leader=0)

    assert leader.hears().error_code == NEW_LEADER_ELECTED
    assert stage.quorum.partition.assignment == Assignment((1,))
    assert 0 not in stage.controller.informed_brokers()


def test_a_change_of_the_isr_is_refused_when_the_model_does(stage: KraftStage) -> None:
    leader = Leader(stage, [0])
    take(stage, "AlterPartition", state(**ASKED), state(), leader=0)

    assert leader.hears().error_code == INELIGIBLE_REPLICA
    assert stage.controller.current().isr == (0, 1)


def test_an_answer_may_come_later_than_the_decision(stage: KraftStage) -> None:
    leader = Leader(stage, [0])
    after = state(isr=R0, answer=[GRANTED, NO_ANSWER], **ASKED)
    take(stage, "AlterPartition", state(**ASKED), after, leader=0)
    waits = not leader.answers
    take(stage, "HearAnswer", after, state(isr=R0), leader=0)

    assert waits
    assert leader.hears().partition_epoch == 1


def test_a_leader_replays_the_record_of_one_isr_at_a_time(stage: KraftStage) -> None:
    known = {"replay": [REPLAYS_OLDER, NOBODY], "replay_isr": [R0, NOBODY], "known_epoch": [0, 0]}
    start = stage.quorum.broker(0).may_know
    stage.controller.decide(0, 0, [0], [])
    first = stage.quorum.end
    stage.controller.decide(0, 0, [0, 1], [])
    second = stage.quorum.end
    before = stage.quorum.broker(0).may_know
    take(stage, "Replay", state(known_isr=[BOTH, NOBODY], **known), state(), leader=0)
    older = stage.quorum.broker(0).may_know
    known["replay"] = [REPLAYS_SAME, NOBODY]
    take(stage, "Replay", state(known_isr=[BOTH, NOBODY], **known), state(), leader=0)

    assert (before, older, stage.quorum.broker(0).may_know) == (start, first, second)
    with pytest.raises(StepFailed, match=r"r0 has a record of ISR \[0\] in epoch 0 to read"):
        take(stage, "Replay", state(known_isr=[R0, NOBODY], **known), state(), leader=0)


def test_another_isr_than_the_model_s_is_a_difference(stage: KraftStage) -> None:
    asks_for_r1 = {"pending_isr": [R1, NOBODY]}
    Leader(stage, [0])
    with pytest.raises(
        NotHeld, match=r"r0 asks for the ISR \[0\], not for \[1\], .*: all who lag leave"
    ):
        take(stage, "ShrinkIsr", state(), state(**asks_for_r1), lag_ms=0, leader=0, follower=0)
    with pytest.raises(StepFailed, match=r"found: it asks for \[0\]"):
        take(stage, "AlterPartition", state(**asks_for_r1), state(isr=R1), leader=0)
    with pytest.raises(NotHeld, match="having found a follower lagging"):
        take(stage, "AlterPartition", state(**asks_for_r1), state(isr=R1), lag_ms=6_000, leader=0)


def test_a_request_of_an_outdated_state_is_refused_before_the_leader_learns(
    stage: KraftStage,
) -> None:
    leader = Leader(stage, [0])
    take(stage, "Move", state(), state(leader=1, epoch=1), replica=1)
    stage.learn(0, stage.controller.current(), [0, 1])

    assert leader.hears().error_code == 74


def test_at_the_end_leaders_are_answered_by_kafka_s_rules(stage: KraftStage) -> None:
    leader = Leader(stage, [0])
    stage.answer_as_kafka()
    agreed = leader.hears().error_code
    stage.quorum.append([stage.quorum.fencing(1, is_fenced=True)])
    stage.answer_as_kafka()

    assert agreed == 0
    assert stage.controller.current().isr == (0,)
    assert not stage.quorum.broker(1).is_fenced


def test_a_broker_that_never_registers_is_named(
    stage: KraftStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kraft_stage, "LIFE_SECONDS_MAX", 0)
    monkeypatch.setattr(kraft_stage, "GRACE_SECONDS", 0.05)
    with pytest.raises(BrokerFailed, match="r1 asks to shut down: it did not in 0 s; its log ends"):
        stage.await_shutdown_asked(1)


def test_a_topic_is_forgotten_and_everybody_is_up_for_the_next(stage: KraftStage) -> None:
    stage.kill(1)
    take(stage, "Fence", state(), state(isr=R0), replica=1)
    stage.forget_topic()
    stage.controller.create_topic(0, {"min.insync.replicas": "2"}, [0, 1])
    stage.learn(1, stage.controller.current(), [0, 1])

    assert stage.epochs_learned == {1: 0}
    assert stage.controller.current().isr == (0, 1)
    assert not stage.quorum.broker(1).is_fenced
    assert "RemoveTopicRecord" in names_read(stage, 1)


def test_brokers_that_cannot_move_a_log_are_not_asked_to(stage: KraftStage) -> None:
    stage.release = kafka_release("0.11.0.3")

    with pytest.raises(NotHeld, match=r"0\.11\.0\.3 move no log"):
        stage.move_directory(0)
