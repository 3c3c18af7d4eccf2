"""The model's states and brokers' files in the same words; a wrong value is a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.states import exchange, model_of, run
from waterline.checker.kafka.confirm.facts import ISR, Difference, differences, of_model
from waterline.checker.kafka.confirm.observing import exchange_text, read_checkpoint, read_epochs
from waterline.checker.kafka.confirm.proxy import Exchange
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.wire import (
    FETCH,
    Record,
    batch_sizes,
    client_definitions,
    one_record,
    reader_of,
    records_in,
    request_bytes,
)

RECORDED = Path(__file__).parent / "recorded"
OLD, NEW = kafka_release("0.10.2.2"), kafka_release("3.9.1")


def test_the_facts_of_a_state_are_what_brokers_would_show() -> None:
    model = model_of("kip320")
    state = run(model, "Produce leader=0", *exchange(1))

    facts = of_model(state, model.settings, NEW)

    assert facts == {
        "r0 is": "up",
        "r0 LEO": "1",
        "r0 log": "m1@0",
        "r0 checkpoint": "0",
        "r0 leads": "yes",
        "r0 HW": "0",
        "r0 epoch": "0",
        "r0 epoch cache": "0 from 0",
        "r1 is": "up",
        "r1 LEO": "1",
        "r1 log": "m1@0",
        "r1 checkpoint": "0",
        "r1 leads": "no",
        "r1 HW": "0",
        "r1 epoch": "0",
        "r1 epoch cache": "0 from 0",
        "r1 on its way": "none",
        "ISR": "r0 r1",
        "acknowledged": "none",
        "waiting for acknowledgement": "m1",
    }


def test_logs_before_0_11_carry_no_epoch_and_have_no_cache() -> None:
    model = model_of("hw")
    facts = of_model(run(model, "Produce leader=0"), model.settings, OLD)

    assert facts["r0 log"] == "m1"
    assert "r0 epoch cache" not in facts


def test_a_request_and_its_answer_are_on_their_way() -> None:
    model = model_of("hw")
    sent = run(model, "SendFetch follower=1", "Produce leader=0")
    answered = run(model, "LeaderFetch follower=1", start=sent)

    assert of_model(sent, model.settings, OLD)["r1 on its way"] == "fetch from 0"
    assert of_model(answered, model.settings, OLD)["r1 on its way"] == "answer m1 HW 0"


def test_of_a_broker_without_a_role_nothing_is_said_but_its_disk() -> None:
    model = model_of("hw")
    state = run(model, "Crash replica=1", "Restart replica=1")
    facts = of_model(state, model.settings, OLD)

    assert {subject for subject in facts if subject.startswith("r1")} == {
        "r1 is",
        "r1 LEO",
        "r1 log",
        "r1 checkpoint",
        "r1 leads",
    }


def test_a_leader_that_has_written_nothing_has_its_epoch_in_its_cache() -> None:
    model = model_of("kip320", moves=1)
    state = run(model, "Produce leader=0", *exchange(1), "Move replica=1", "Learn replica=1")
    facts = of_model(state, model.settings, NEW)

    assert facts["r1 epoch cache"] == "0 from 0, 1 from 1"


@pytest.mark.parametrize("subject", ["r0 log", "r0 HW", "r1 leads", ISR, "acknowledged"])
def test_any_wrong_value_is_a_difference(subject: str) -> None:
    model = model_of("kip320")
    facts = of_model(model.initial[0], model.settings, NEW)

    assert differences(facts, facts) == []
    assert differences(facts, facts | {subject: "wrong"}) == [
        Difference(subject, facts[subject], "wrong")
    ]


def test_what_one_side_does_not_say_is_no_difference() -> None:
    assert differences({"r0 HW": "1"}, {}) == []
    assert differences({}, {"r0 HW": "1"}) == []


def test_a_segment_of_0_10_is_read_as_that_broker_wrote_it() -> None:
    segment = (RECORDED / "0.10.2.2" / "segment.log").read_bytes()

    assert records_in(segment) == [Record(0, b"m2", None)]
    assert batch_sizes(segment) == [36]


def test_a_segment_of_2_1_has_the_epoch_of_each_record() -> None:
    segment = (RECORDED / "2.1.1" / "segment.log").read_bytes()

    assert records_in(segment) == [Record(0, b"m1", 0), Record(1, b"m2", 2)]
    assert batch_sizes(segment) == [70, 70]


def test_a_torn_end_of_a_segment_is_left_out() -> None:
    segment = (RECORDED / "2.1.1" / "segment.log").read_bytes()

    assert records_in(segment[:-1]) == [Record(0, b"m1", 0)]
    assert batch_sizes(segment[:-1]) == [70]
    assert records_in(b"") == records_in(None) == []


def test_the_checkpoints_of_a_broker_are_read() -> None:
    folder = RECORDED / "2.1.1"

    assert read_epochs(folder / "leader-epoch-checkpoint") == [(0, 0), (2, 1)]
    assert read_checkpoint(folder / "replication-offset-checkpoint") == 0


def test_a_checkpoint_that_is_not_there_is_zero_and_an_epoch_file_empty(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path / "none") == 0
    assert read_epochs(tmp_path / "none") == []


def test_the_high_watermark_of_this_partition_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "replication-offset-checkpoint"
    file.write_text("0\n2\n__consumer_offsets 0 9\nt 0 3\n")

    assert read_checkpoint(file) == 3


READER = reader_of(client_definitions())


def fetch_from(offset: int) -> Exchange:
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 100}
    frame = request_bytes(FETCH, 4, {"topics": [{"topic": "t", "partitions": [partition]}]})
    return Exchange(frame, READER.request(frame))


def answer(error: int, high_watermark: int, records: bytes) -> bytes:
    """An answer to a fetch of version 4, as Kafka's protocol guide lays it out."""

    def number(size: int, value: int) -> bytes:
        return value.to_bytes(size, "big", signed=True)

    partition = number(4, 0) + number(2, error) + number(8, high_watermark) + number(8, -1)
    partition += number(4, -1) + number(4, len(records)) + records
    topic = number(2, 1) + b"t" + number(4, 1) + partition
    return number(4, 1) + number(4, 0) + number(4, 1) + topic


def test_an_exchange_is_told_in_the_words_of_the_model() -> None:
    asked = fetch_from(3)
    before = exchange_text(asked)
    asked.answer = READER.answer(FETCH, 4, answer(0, 2, one_record(b"m7", magic=2)))
    told = exchange_text(asked)
    asked.answer = READER.answer(FETCH, 4, answer(1, -1, b""))
    beyond = exchange_text(asked)
    asked.answer = READER.answer(FETCH, 4, answer(6, -1, b""))

    assert before == "fetch from 3"
    assert told == "answer m7 HW 2"
    assert beyond == "answer out of range"
    assert exchange_text(asked) == "answer not_leader_or_follower"
