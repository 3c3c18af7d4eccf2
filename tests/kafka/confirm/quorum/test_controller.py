"""A fake broker, by the codec over loopback, beside the scripted controller."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kafka.confirm.quorum.fake_broker import (
    ALTER_PARTITION,
    API_VERSIONS,
    ASSIGN_DIRECTORIES,
    DEFINITIONS,
    DESCRIBE_QUORUM,
    FETCH,
    HEARTBEAT,
    REGISTER,
    SECONDS,
    FakeBroker,
)
from waterline.checker.kafka.confirm.quorum.controller import INELIGIBLE_REPLICA, ScriptedController
from waterline.checker.kafka.confirm.quorum.state import AlterRequest, ControllerFailed


@pytest.fixture
def controller() -> Iterator[ScriptedController]:
    def find(reader: int, broker: int, port: int) -> int:
        return port if reader == broker else port + 100

    with ScriptedController(DEFINITIONS, 2, find=find) as scripted:
        yield scripted


@pytest.fixture
def brokers(controller: ScriptedController) -> list[FakeBroker]:
    """Both are registered and unfenced, and lead and follow a topic."""
    made = [FakeBroker(controller, number) for number in range(2)]
    for broker in made:
        broker.register()
    unfenced = [controller.fencing(number, is_fenced=False) for number in range(2)]
    controller.append(unfenced)
    controller.hold_all()
    controller.create_topic("t", [0, 1], 0, {"min.insync.replicas": "1"})
    return made


def answered(answers: list[Any]) -> Any:
    end = time.monotonic() + SECONDS
    while not answers:
        assert time.monotonic() < end, "no answer came"
        time.sleep(0.01)
    return answers[0]


def test_what_is_spoken_is_listed(controller: ScriptedController) -> None:
    keys = [each.api_key for each in FakeBroker(controller, 0).ask(API_VERSIONS, {}).api_keys]

    assert keys == [
        FETCH,
        API_VERSIONS,
        DESCRIBE_QUORUM,
        ALTER_PARTITION,
        REGISTER,
        HEARTBEAT,
        ASSIGN_DIRECTORIES,
    ]


def test_an_observer_without_the_epoch_hears_who_leads_the_quorum(
    controller: ScriptedController,
) -> None:
    answer = FakeBroker(controller, 0).fetch(0, epoch=0)

    assert answer.error_code == 74
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (3000, 1)


def test_the_first_registration_sets_the_newest_metadata_version(
    controller: ScriptedController,
) -> None:
    first, second = FakeBroker(controller, 0), FakeBroker(controller, 1)
    epochs = first.register(metadata_version=27), second.register(metadata_version=27)
    records = first.records(0)

    assert epochs == (2, 3)
    assert [name for name, _ in records] == [
        "FeatureLevelRecord",
        "RegisterBrokerRecord",
        "RegisterBrokerRecord",
    ]
    assert (records[0][1].name, records[0][1].feature_level) == ("metadata.version", 27)
    assert first.register() == 2  # The same incarnation keeps its epoch.


def test_eligible_leader_replicas_are_a_feature_of_the_cluster() -> None:
    with ScriptedController(DEFINITIONS, 1, with_eligible_leader_replicas=True) as scripted:
        broker = FakeBroker(scripted, 0)
        broker.register()
        levels = [values.name for name, values in broker.records(0) if "Feature" in name]

    assert levels == ["metadata.version", "eligible.leader.replicas.version"]


def test_every_reader_finds_the_others_at_ports_of_its_own(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    def found(reader: FakeBroker) -> list[int]:
        records = reader.records(0)
        return [each.end_points[0].port for name, each in records if name.startswith("Register")]

    assert found(brokers[0]) == [9000, 9101]
    assert found(brokers[1]) == [9100, 9001]


def test_a_broker_reads_what_is_revealed_to_it_and_no_more(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    held = brokers[1].fetch(0).high_watermark
    end = controller.change(leader=1)
    controller.reveal(0, end)
    names = [name for name, _ in brokers[0].records(held)]

    assert names[-2:] == ["PartitionRecord", "PartitionChangeRecord"]
    assert brokers[1].records(held) == []
    assert brokers[1].fetch(0).high_watermark == held < end


def test_a_fetch_waits_until_more_is_revealed(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    at = brokers[0].fetch(0).high_watermark
    answers: list[Any] = []
    wait = threading.Thread(target=lambda: answers.append(brokers[0].fetch(at, wait_ms=5_000)))
    wait.start()
    controller.reveal(0, controller.end)
    wait.join(SECONDS)

    assert answers[0].high_watermark == controller.end


def test_a_heartbeat_says_what_a_broker_has_applied(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    answer = brokers[0].beat(controller.end - 1, want_fence=False)
    of_another_life = FakeBroker(controller, 0).beat(5)

    assert controller.has_applied(0, controller.end)
    assert controller.broker(0).has_caught_up
    assert (answer.is_caught_up, answer.is_fenced, answer.should_shut_down) == (True, False, False)
    assert of_another_life.error_code == 77
    assert not controller.has_applied(1, controller.end)


def test_a_broker_shuts_down_when_it_may(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    before = brokers[0].beat(9, want_shut_down=True).should_shut_down
    controller.let_shut_down(0)

    assert controller.broker(0).wants_shutdown
    assert (before, brokers[0].beat(9, want_shut_down=True).should_shut_down) == (False, True)


def test_an_isr_that_is_granted_is_answered_with_the_new_partition_epoch(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    answers: list[Any] = []
    asked = brokers[0].alter(controller, [0], answers)
    controller.change(isr=asked.isr)
    controller.answer(asked)
    [partition] = answered(answers).topics[0].partitions

    assert (partition.error_code, partition.isr) == (0, [0])
    assert (partition.leader_epoch, partition.partition_epoch) == (0, 1)
    assert controller.asked_by(0) == []


def test_a_request_may_be_refused_or_lost(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    refused: list[Any] = []
    lost: list[Any] = []
    controller.refuse(brokers[0].alter(controller, [0, 1], refused), INELIGIBLE_REPLICA)
    code = answered(refused).topics[0].partitions[0].error_code
    controller.await_true(lambda: not controller.asked_by(0), SECONDS)
    controller.lose(brokers[0].alter(controller, [0, 1], lost))

    assert code == INELIGIBLE_REPLICA
    assert answered(lost) is None


def test_kafka_s_own_rules_refuse_what_is_outdated_or_fenced(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    answers: list[Any] = []
    asked: AlterRequest = brokers[0].alter(controller, [0, 1], answers)
    agreed = controller.refusal(asked)
    controller.fencing(1, is_fenced=True)
    fenced = controller.refusal(asked)
    controller.change(isr=[0])
    outdated = controller.refusal(asked)
    controller.change(leader=1)

    assert (agreed, fenced, outdated, controller.refusal(asked)) == (0, 107, 95, 74)
    assert controller.is_outdated(asked)
    controller.lose(asked)


def test_a_leader_that_is_given_raises_the_epoch_and_one_from_outside_recovers(
    controller: ScriptedController, brokers: list[FakeBroker]
) -> None:
    controller.reveal(0, controller.change(leader=0, isr=[0]))
    at = controller.end
    controller.change(leader=1, isr=[1])
    recovering = controller.partition.is_recovering
    controller.reveal(0, controller.change(isr=[0, 1], is_recovered=True))
    changes = [values for _, values in brokers[0].records(at)]

    assert controller.partition.leader_epoch == 2
    assert recovering
    assert not controller.partition.is_recovering
    assert [each.leader_recovery_state for each in changes] == [1, 0]
    assert [each.leader for each in changes] == [1, -2]


def test_what_fails_in_a_thread_is_raised_where_the_script_waits(
    controller: ScriptedController,
) -> None:
    FakeBroker(controller, 0).ask(REGISTER, {"features": []})  # Without metadata.version.

    with pytest.raises(ControllerFailed, match=r"metadata\.version"):
        controller.await_true(lambda: False, SECONDS)


def test_a_broker_may_move_a_log_to_another_directory(controller: ScriptedController) -> None:
    broker, topic, other = FakeBroker(controller, 0), uuid.uuid4(), uuid.uuid4()
    broker.register()
    end = controller.end
    topics = [{"topic_id": topic, "partitions": [{"partition_index": 0}]}]
    asked = {"broker_id": 0, "directories": [{"id": other, "topics": topics}]}
    answer = broker.ask(ASSIGN_DIRECTORIES, asked)

    [directory] = answer.directories
    [moved] = directory.topics[0].partitions
    assert answer.error_code == moved.error_code == moved.partition_index == 0
    assert (directory.id, directory.topics[0].topic_id) == (other, topic)
    assert controller.end == end, "there is no record of it"


def test_a_request_that_has_no_answer_is_refused_and_noted() -> None:
    seen: list[str] = []
    with ScriptedController(DEFINITIONS, 1, watch=lambda who, body: seen.append(who)) as scripted:
        broker = FakeBroker(scripted, 0)
        broker.fetch(0)
        answer = broker.ask(DESCRIBE_QUORUM, {})

    assert answer.error_code == 42
    assert scripted.unexpected == ["DescribeQuorumRequest"]
    assert seen == ["r0 asks the controller", "the controller answers r0"]


def test_its_end_breaks_what_waits_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    answers: list[Any] = []
    with ScriptedController(DEFINITIONS, 1) as scripted:
        broker = FakeBroker(scripted, 0)
        broker.register()
        scripted.create_topic("t", [0], 0, {})
        broker.alter(scripted, [0], answers)

    assert answered(answers) is None
    for thread in set(threading.enumerate()) - before:
        thread.join(SECONDS)
    assert set(threading.enumerate()) <= before
