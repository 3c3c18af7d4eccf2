"""Links hold what replication is made of, and nothing else; what is lost never arrives."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from waterline.checker.kafka.confirm.proxy import Exchange, Link
from waterline.checker.kafka.confirm.wire import (
    FETCH,
    HOST,
    LIST_OFFSETS,
    OFFSET_FOR_LEADER_EPOCH,
    receive_frame,
    request_bytes,
    send_frame,
)

SECONDS = 10


def fetch(offset: int) -> bytes:
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 100}
    values = {"replica_id": 1, "topics": [{"topic": "t", "partitions": [partition]}]}
    return request_bytes(FETCH, 3, values)


class Leader:
    """Whoever listens: it keeps what it is asked, and answers each with an empty fetch answer."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._server = socket.create_server((HOST, 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            while (frame := receive_frame(connection)) is not None:
                self.asked.append(frame)
                send_frame(connection, frame[4:8] + bytes(8))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@pytest.fixture
def leader() -> Iterator[Leader]:
    server = Leader()
    yield server
    server.close()


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def link(leader: Leader, heard: list[str]) -> Iterator[Link]:
    between = Link("r1", "r0", leader.port, lambda who, body: heard.append(who))
    yield between
    between.close()


@pytest.fixture
def follower(link: Link) -> Iterator[socket.socket]:
    with socket.create_connection((HOST, link.port), SECONDS) as connection:
        connection.settimeout(SECONDS)
        yield connection


def is_there(exchange: Exchange | None) -> bool:
    return exchange is not None


def is_answered(exchange: Exchange | None) -> bool:
    return exchange is not None and exchange.answer is not None


def asked_offset(exchange: Exchange | None) -> int:
    assert exchange is not None
    return int(exchange.request.body.topics[0].partitions[0].fetch_offset)


def test_a_request_waits_until_it_may_ask(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    send_frame(follower, fetch(7))
    waits = link.wait_for(is_there, SECONDS)
    before = list(leader.asked)
    offset = asked_offset(link.current)
    link.let_ask()
    answered = link.wait_for(is_answered, SECONDS)

    assert waits
    assert before == []
    assert offset == 7
    assert answered
    assert leader.asked == [fetch(7)[:4] + leader.asked[0][4:]]


def test_an_answer_waits_until_it_may_go(
    link: Link, follower: socket.socket, heard: list[str]
) -> None:
    send_frame(follower, fetch(0))
    link.wait_for(is_there, SECONDS)
    link.let_ask()
    link.wait_for(is_answered, SECONDS)
    follower.settimeout(0.2)
    with pytest.raises(TimeoutError):
        follower.recv(1)
    follower.settimeout(SECONDS)
    link.let_answer()

    assert receive_frame(follower) is not None
    assert link.current is None
    assert heard == ["r1 asks r0", "r0 answers r1"]


def test_a_lost_request_ends_the_connection_and_reaches_nobody(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    send_frame(follower, fetch(0))
    link.wait_for(is_there, SECONDS)
    link.lose()

    assert receive_frame(follower) is None
    assert link.deliver_stray() is None
    assert leader.asked == []


def test_a_lost_answer_reached_the_leader_alone(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    send_frame(follower, fetch(0))
    link.wait_for(is_there, SECONDS)
    link.let_ask()
    link.wait_for(is_answered, SECONDS)
    link.lose(outlives=True)

    assert receive_frame(follower) is None
    assert len(leader.asked) == 1
    assert link.deliver_stray() is None, "it has been handled once"


def test_a_request_that_outlives_its_sender_is_handled_once(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    send_frame(follower, fetch(5))
    link.wait_for(is_there, SECONDS)
    link.lose(outlives=True)
    ended = receive_frame(follower)
    answer = link.deliver_stray()

    assert ended is None
    assert answer is not None
    assert len(leader.asked) == 1
    assert link.deliver_stray() is None


def test_a_stray_request_can_be_lost_for_good(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    send_frame(follower, fetch(5))
    link.wait_for(is_there, SECONDS)
    link.lose(outlives=True)
    link.lose_stray()

    assert link.deliver_stray() is None
    assert leader.asked == []


def test_a_follower_that_asks_anew_replaces_what_waited(
    link: Link, follower: socket.socket
) -> None:
    send_frame(follower, fetch(1))
    link.wait_for(is_there, SECONDS)
    with socket.create_connection((HOST, link.port), SECONDS) as again:
        send_frame(again, fetch(2))
        link.wait_for(lambda now: now is not None and asked_offset(now) == 2, SECONDS)

        assert asked_offset(link.current) == 2
        assert receive_frame(follower) is None


@pytest.mark.parametrize("key", [FETCH, OFFSET_FOR_LEADER_EPOCH])
def test_replication_is_held(key: int, link: Link, leader: Leader, follower: socket.socket) -> None:
    values: dict[str, Any] = {"replica_id": 1, "topics": []}
    send_frame(follower, request_bytes(key, 3, values))

    assert link.wait_for(is_there, SECONDS)
    assert leader.asked == []


def test_anything_else_passes(link: Link, leader: Leader, follower: socket.socket) -> None:
    send_frame(follower, request_bytes(LIST_OFFSETS, 1, {"replica_id": 1, "topics": []}))

    assert receive_frame(follower) is not None
    assert len(leader.asked) == 1
    assert link.current is None


def test_an_open_link_holds_nothing(link: Link, leader: Leader, follower: socket.socket) -> None:
    send_frame(follower, fetch(0))
    link.wait_for(is_there, SECONDS)
    link.open()
    first = receive_frame(follower)
    send_frame(follower, fetch(1))

    assert first is not None
    assert receive_frame(follower) is not None
    assert len(leader.asked) == 2


def test_a_leader_that_is_gone_breaks_the_connection(
    link: Link, leader: Leader, follower: socket.socket
) -> None:
    leader.close()
    send_frame(follower, fetch(0))
    link.wait_for(is_there, SECONDS)
    link.let_ask()

    assert receive_frame(follower) is None
    assert link.current is None


def test_nobody_connects_to_a_link_that_is_closed(link: Link, follower: socket.socket) -> None:
    link.close()

    with pytest.raises(OSError, match="refused"):
        socket.create_connection((HOST, link.port), SECONDS)


def test_links_listen_on_loopback_alone(link: Link) -> None:
    assert link._server.getsockname()[0] == "127.0.0.1"


def test_a_frame_of_no_size_ends_a_connection(link: Link, follower: socket.socket) -> None:
    follower.sendall(struct.pack(">i", -5))

    assert follower.recv(1) == b""


def test_what_was_open_holds_again(link: Link, leader: Leader, follower: socket.socket) -> None:
    link.open()
    send_frame(follower, fetch(1))
    passed = receive_frame(follower)
    link.hold()
    send_frame(follower, fetch(2))
    waits = link.wait_for(is_there, SECONDS)

    assert passed is not None
    assert waits
    assert asked_offset(link.current) == 2
    assert len(leader.asked) == 1
