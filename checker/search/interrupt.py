"""Ctrl-C during a search: noted, and handled between two blocks of work.

An exception that can come at any moment also comes where Python drops it, or where a file is being
closed. So within a search the signal only sets a flag, which is checked wherever a deadline is. A
second Ctrl-C is raised at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether there has been a Ctrl-C within `noted`.

    Signals are the main thread's. A caller with a search in another
    thread, or with a handler of its own, stops the search otherwise.
    """

    def __init__(self) -> None:
        self.noticed = False

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Take the signal, as long as this lasts."""
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noticed:
            raise KeyboardInterrupt
        self.noticed = True
