"""Stop-the-world pauses of worker threads, to grow shared tables.

What is to be done then is shared among those that wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


class Standstill:
    """A pause of all threads, while `chores` are done side by side.

    A chore that fails ends the work of all threads with its exception, now and later.
    """

    def __init__(self, chores: Callable[[], Sequence[Callable[[], None]]]) -> None:
        self._chores = chores
        self._changed = threading.Condition()
        self._working = 0
        self._is_asked_for = False
        self._left: list[Callable[[], None]] | None = None
        self._being_done = 0
        self._failure: BaseException | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work that delays a standstill; it begins once a requested standstill is over.

        A thread may not nest it.
        """
        with self._changed:
            self._stand_still()
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                if self._is_asked_for and not self._working:
                    self._changed.notify_all()

    def ask(self) -> None:
        """Let everybody stand still before they begin to work again."""
        with self._changed:
            self._is_asked_for = True

    def _stand_still(self) -> None:
        while self._is_asked_for and self._failure is None:
            if self._left is None and not self._working:
                self._left = list(self._chores())
            if self._left:
                self._do(self._left.pop())
            elif self._left is not None and not self._being_done:
                self._is_asked_for = False
                self._left = None
                self._changed.notify_all()
            else:
                self._changed.wait()
        if self._failure is not None:
            raise self._failure

    def _do(self, chore: Callable[[], None]) -> None:
        self._being_done += 1
        self._changed.release()
        failure: BaseException | None = None
        try:
            chore()
        except BaseException as raised:
            failure = raised
        self._changed.acquire()
        self._being_done -= 1
        if failure is not None:
            self._failure = self._failure or failure
        self._changed.notify_all()
