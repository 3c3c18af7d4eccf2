"""Loopback ports that answer frames: one port for each client, which identifies it.

Every connection has a thread of its own, and serves one frame at a time.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from waterline.checker.kafka.confirm.wire import HOST, receive_frame, send_frame

Serve = Callable[[int, bytes], bytes | None]
"""Answer to a client's frame; None breaks the connection."""


class Ports:
    """Ports; `failed` receives what `serve` raised, and that connection ends."""

    def __init__(self, number: int, serve: Serve, failed: Callable[[Exception], None]) -> None:
        self._serve = serve
        self._failed = failed
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._is_over = False
        self._servers = [socket.create_server((HOST, 0)) for _ in range(number)]
        self.numbers: list[int] = [server.getsockname()[1] for server in self._servers]
        for asker, server in enumerate(self._servers):
            threading.Thread(target=self._accept, args=(asker, server), daemon=True).start()

    def close(self) -> None:
        """Refuse new connections and cut the open ones."""
        with self._lock:
            self._is_over = True
            left = [*self._servers, *self._connections]
        for each in left:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, asker: int, server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with self._lock:
                if self._is_over:
                    connection.close()
                    return
                self._connections.add(connection)
            threading.Thread(target=self._answer, args=(asker, connection), daemon=True).start()

    def _answer(self, asker: int, connection: socket.socket) -> None:
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while (frame := receive_frame(connection)) is not None:
                    answer = self._serve(asker, frame)
                    if answer is None:
                        return
                    send_frame(connection, answer)
        except OSError:
            return  # The asker is gone, or all is over.
        except Exception as problem:
            self._failed(problem)
        finally:
            with self._lock:
                self._connections.discard(connection)
