"""Answers that are left unread, and what makes them longer than buffers hold."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.kafka.confirm.quorum.fake_broker import DEFINITIONS
from tests.kafka.confirm.test_gates import SECONDS, fetch
from waterline.checker.kafka.confirm.codec import (
    read_request_frame,
    read_response_frame,
    request_frame,
    response_frame,
)
from waterline.checker.kafka.confirm.kraft.stage import PARTITIONS, TOPIC_ID, KraftStage, LongAnswer
from waterline.checker.kafka.confirm.proxy import Link
from waterline.checker.kafka.confirm.replay import leave_unread, prepare_late_reads
from waterline.checker.kafka.confirm.wire import FETCH, HOST, receive_frame, send_frame
from waterline.counterexamples import Moment

LONG = 5_000_000
"""More than any buffers hold."""


def moment(number: int, action: str, **arguments: int) -> Moment:
    before: Any = SimpleNamespace(known_leader=[0, 0, 0])
    return Moment(number, action, tuple(arguments.items()), before, before)


class Stage(KraftStage):
    """It notes what is asked of it."""

    def __init__(self) -> None:
        self.prepared = 0
        self.unread: list[tuple[int, int]] = []

    def prepare_late_reads(self) -> None:
        self.prepared += 1

    def leave_unread(self, follower: int, leader: int) -> None:
        self.unread.append((follower, leader))


def test_an_answer_is_left_unread_if_it_is_read_late_and_no_other() -> None:
    steps = [
        moment(1, "LeaderFetch", follower=1),
        moment(2, "RecvFetch", follower=1),
        moment(3, "LeaderFetch", follower=1),
        moment(4, "LeaderFetch", follower=2),
        moment(5, "RecvFetch", follower=2),
        moment(6, "ReadLate", follower=1),
        moment(7, "RecvFetch", follower=1),
    ]
    stage = Stage()
    prepare_late_reads(stage, steps)
    for step in steps:
        leave_unread(stage, step, [each for each in steps if each.number > step.number])

    assert stage.prepared == 1
    assert stage.unread == [(1, 0)]


def test_without_a_late_read_nothing_is_prepared() -> None:
    stage = Stage()
    prepare_late_reads(stage, [moment(1, "LeaderFetch", follower=1)])

    assert stage.prepared == 0


def test_a_fetch_asks_for_other_partitions_first_and_the_follower_has_its_own_alone() -> None:
    long = LongAnswer(DEFINITIONS)
    own = {"topics": [{"partitions": [{"fetch_offset": 7}]}]}
    frame = long.asked(request_frame(DEFINITIONS, FETCH, 3, 12, own))
    header, body = read_request_frame(DEFINITIONS, frame)
    others = {"topic_id": TOPIC_ID, "partitions": [{}] * PARTITIONS}
    mine = {"topic_id": None, "partitions": [{"high_watermark": 5, "records": b"r"}]}
    answer = response_frame(DEFINITIONS, FETCH, 3, 12, {"responses": [others, mine]})
    shorter = read_response_frame(DEFINITIONS, FETCH, 3, long.answered(3, answer))

    assert (header.request_api_key, header.request_api_version) == (FETCH, 3)
    assert [len(topic.partitions) for topic in body.topics] == [PARTITIONS, 1]
    assert body.topics[1].partitions[0].fetch_offset == 7
    assert len(shorter.responses) == 1
    assert shorter.responses[0].partitions[0].records == b"r"
    assert long.answered(3, answer)[:4] == answer[:4]


class SlowLeader:
    """It answers a fetch, and says how many bytes the socket has taken."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.is_sent = threading.Event()
        self._server = socket.create_server((HOST, 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            frame = receive_frame(connection)
            assert frame is not None
            self.asked.append(frame)
            send_frame(connection, frame[4:8] + bytes(LONG))
            self.is_sent.set()
            connection.recv(1)  # until the other end is closed

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def leader() -> Iterator[SlowLeader]:
    server = SlowLeader()
    yield server
    server.close()


def test_a_leader_has_not_sent_what_nobody_reads(leader: SlowLeader, tmp_path: Path) -> None:
    link = Link("r1", "r0", leader.port, lambda who, body: None)
    with socket.create_connection((HOST, link.port), SECONDS) as follower:
        follower.settimeout(SECONDS)
        send_frame(follower, fetch(7))
        link.wait_for(lambda now: now is not None, SECONDS)
        link.leave_unread(lambda frame: frame + b"!", lambda version, answer: answer[:12])
        link.let_ask()
        has_begun = link.wait_for(lambda now: now is not None and now.has_begun, SECONDS)
        before = leader.is_sent.wait(0.3)
        link.read_on()
        is_read = link.wait_for(lambda now: now is not None and now.answer is not None, SECONDS)
        link.let_answer()
        answer = receive_frame(follower)
    link.close()

    assert has_begun
    assert not before
    assert leader.asked[0].endswith(b"!")
    assert is_read
    assert leader.is_sent.wait(SECONDS)
    assert answer is not None
    assert len(answer) == 12
