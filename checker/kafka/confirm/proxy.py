"""Proxy between followers and leaders, which holds each request and each answer.

For a follower, its leader listens at the port of a link. What it asks there waits until the harness
lets it go, and so does the answer. Only what replication is made of is held (Fetch,
OffsetForLeaderEpoch), and further requests that a link is set to hold; anything else passes. Of
that a broker has one request at a time on its way, so that a link holds one thing at most.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from waterline.checker.kafka.confirm.wire import (
    FETCH,
    HOST,
    OFFSET_FOR_LEADER_EPOCH,
    Reader,
    Request,
    client_definitions,
    kind_of,
    reader_of,
    receive_frame,
    send_frame,
)

HELD = frozenset({FETCH, OFFSET_FOR_LEADER_EPOCH})
CONNECT_SECONDS_MAX = 5.0
_may_ask, _may_answer = attrgetter("may_ask"), attrgetter("may_answer")
RECEIVE_BYTES = 4096
"""Bytes of an answer that the system takes before they are read, or a little more. The leader reads
the rest from its log later, unless its own buffer holds it."""


@dataclass(slots=True)
class Exchange:
    """A request that a follower sent, and what has become of it.

    `has_begun`: the first bytes of the answer are here, and the others are left where they are.
    `restored` makes of a changed request's answer what the follower is to have.
    """

    frame: bytes
    request: Request
    answer: Any = None
    has_begun: bool = False
    restored: Callable[[bytes], bytes] | None = None
    may_ask: bool = False
    may_answer: bool = False
    is_lost: bool = False


class Link:
    """Connection from one follower to one leader. Closed at first: each message waits for its step.

    `asker` and `asked` are their names. Requests of the kinds in `held` wait, and so do their
    answers. `watch` receives each of them as it passes: direction, and content as `reader` parses
    it; without one, as a client's.
    """

    def __init__(
        self,
        asker: str,
        asked: str,
        port: int,
        watch: Callable[[str, Any], None],
        *,
        held: frozenset[int] = HELD,
        reader: Reader | None = None,
    ) -> None:
        self._asker = asker
        self._asked_one = asked
        self._to = port
        self._watch = watch
        self._held = held
        self._reader = reader or reader_of(client_definitions())
        self._changed = threading.Condition()
        self._current: Exchange | None = None
        self._stray: Exchange | None = None
        self._is_open = False
        self._is_over = False
        self._leaves_unread = False
        self._sockets: set[socket.socket] = set()
        self._server = socket.create_server((HOST, 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    # What the harness does.

    @property
    def current(self) -> Exchange | None:
        """Exchange that waits here, None for none."""
        with self._changed:
            return self._current

    def wait_for(self, wanted: Callable[[Exchange | None], bool], seconds: float) -> bool:
        """Wait until what waits here is as wanted; whether it came to that in time."""
        with self._changed:
            return self._changed.wait_for(lambda: wanted(self._current), seconds)

    def let_ask(self) -> None:
        """The request that waits here goes to the leader."""
        with self._changed:
            if self._current is not None:
                self._current.may_ask = True
                self._changed.notify_all()

    def leave_unread(
        self, asked: Callable[[bytes], bytes], answered: Callable[[int, bytes], bytes]
    ) -> None:
        """Read nothing of answers from now on: a leader sends what buffers hold, and waits.

        The request that waits here is changed by `asked`, its answer, of a version, by `answered`.
        """
        with self._changed:
            self._leaves_unread = True
            now = self._current
            if now is not None:
                now.frame = asked(now.frame)
                now.restored = functools.partial(answered, now.request.version)

    def read_on(self) -> None:
        """Read what was left unread, and all that follows."""
        with self._changed:
            self._leaves_unread = False
            self._changed.notify_all()

    def let_answer(self) -> None:
        """The answer that waits here goes to the follower."""
        with self._changed:
            if self._current is not None:
                self._current.may_answer = True
                self._changed.notify_all()

    def lose(self, *, outlives: bool = False) -> None:
        """Whatever waits here is lost, as when a connection breaks; the follower asks again.

        With `outlives` a request that has not reached the leader may still do so: `deliver_stray`.
        """
        with self._changed:
            if self._current is not None:
                self._current.is_lost = True
                if outlives and not self._current.may_ask:
                    self._stray = self._current
                self._current = None
                self._changed.notify_all()

    def deliver_stray(self) -> Any:
        """Deliver the request that outlived its connection, and return the leader's answer.

        Returns None if there is none, or the leader is down.
        """
        if self._stray is None:
            return None
        exchange, self._stray = self._stray, None
        try:
            with socket.create_connection((HOST, self._to), CONNECT_SECONDS_MAX) as leader:
                leader.settimeout(CONNECT_SECONDS_MAX)
                send_frame(leader, exchange.frame)
                frame = receive_frame(leader)
        except OSError:
            return None
        if frame is None:
            return None
        return self._reader.answer(exchange.request.key, exchange.request.version, frame)

    def lose_stray(self) -> None:
        """The request that outlived its connection never arrives."""
        self._stray = None

    def open(self) -> None:
        """Let everything pass from now on."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def hold(self) -> None:
        """Make everything wait from now on."""
        with self._changed:
            self._is_open = False

    def close(self) -> None:
        """Refuse new connections and cut the open ones."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            left = list(self._sockets)
        _shut_down(self._server)  # Closed alone, it would take one more connection.
        self._server.close()
        for each in left:
            _shut_down(each)

    # What its threads do.

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(connection,), daemon=True).start()

    def _carry(self, follower: socket.socket) -> None:
        """Serve a follower's connection, a request at a time."""
        with contextlib.suppress(OSError), contextlib.ExitStack() as ending:
            ending.callback(self._drop, follower)
            self._note(follower)
            leader: socket.socket | None = None
            while (frame := receive_frame(follower)) is not None:
                exchange = None
                if kind_of(frame)[0] in self._held and not self._is_open:
                    exchange = self._begin(frame)
                    if not self._until(exchange, _may_ask):
                        return
                    frame = exchange.frame
                if leader is None:
                    leader = self._connect(exchange)
                    if leader is None:
                        return
                    ending.callback(self._drop, leader)
                answer = self._ask(leader, frame, exchange)
                if answer is None:
                    return
                if exchange is not None:
                    if not self._until(exchange, _may_answer):
                        return
                    self._forget(exchange)
                send_frame(follower, answer)

    def _begin(self, frame: bytes) -> Exchange:
        """A request that waits from now on."""
        exchange = Exchange(frame, self._reader.request(frame))
        with self._changed:
            if self._current is not None:
                self._current.is_lost = True  # Its follower has given it up and asks anew.
            self._current = exchange
            self._changed.notify_all()
        self._watch(f"{self._asker} asks {self._asked_one}", exchange.request.body)
        return exchange

    def _ask(self, leader: socket.socket, frame: bytes, exchange: Exchange | None) -> bytes | None:
        """Return the leader's answer, None if the connection breaks."""
        try:
            send_frame(leader, frame)
            if exchange is not None and self._leaves_unread:
                self._wait_unread(leader, exchange)
            answer = receive_frame(leader)
            if answer is not None and exchange is not None and exchange.restored is not None:
                answer = exchange.restored(answer)
        except OSError:
            answer = None
        if exchange is None:
            return answer
        if answer is None:
            self._forget(exchange)
            return None
        text = self._reader.answer(exchange.request.key, exchange.request.version, answer)
        with self._changed:
            exchange.answer = text
            self._changed.notify_all()
        self._watch(f"{self._asked_one} answers {self._asker}", text)
        return answer

    def _wait_unread(self, leader: socket.socket, exchange: Exchange) -> None:
        """Wait with an answer that has begun, until it is to be read. Raises `OSError`."""
        leader.recv(1, socket.MSG_PEEK)
        with self._changed:
            exchange.has_begun = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._leaves_unread or self._is_over)

    def _until(self, exchange: Exchange, allowed: Callable[[Exchange], bool]) -> bool:
        """Wait for the step; False if the exchange is lost, or all is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: allowed(exchange) or exchange.is_lost or self._is_open or self._is_over
            )
            return not exchange.is_lost and not self._is_over

    def _forget(self, exchange: Exchange) -> None:
        with self._changed:
            if self._current is exchange:
                self._current = None
                self._changed.notify_all()

    def _connect(self, exchange: Exchange | None) -> socket.socket | None:
        """A connection to the leader; where there is none the request is lost."""
        leader = socket.socket()
        leader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        leader.settimeout(CONNECT_SECONDS_MAX)
        try:
            leader.connect((HOST, self._to))
        except OSError:
            leader.close()
            if exchange is not None:
                self._forget(exchange)
            return None
        leader.settimeout(None)
        self._note(leader)
        return leader

    def _note(self, connection: socket.socket) -> None:
        with self._changed:
            self._sockets.add(connection)

    def _drop(self, connection: socket.socket) -> None:
        with self._changed:
            self._sockets.discard(connection)
        connection.close()


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def wait_until(true: Callable[[], bool], seconds: float, *, every: float = 0.05) -> bool:
    """Ask again and again until it is true; whether it came to that in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() >= end:
            return False
        time.sleep(every)
    return True


def listens(port: int) -> bool:
    """True if a server listens on this port of this machine."""
    try:
        socket.create_connection((HOST, port), 1).close()
    except OSError:
        return False
    return True
