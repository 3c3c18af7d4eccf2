"""Ctrl-C during a search and its preparation.

An exception that can come at any moment also comes where Python drops it, or where a file is being
closed. So the signal only sets a flag, which a search checks wherever it checks a deadline, and the
compiler after each program. A second Ctrl-C is raised at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """A flag that Ctrl-C sets while this listens.

    Signals are the main thread's. A caller with a search in another thread, or with a handler of
    its own, stops the search otherwise.
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

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if there has been one."""
        if self.noticed:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noticed:
            raise KeyboardInterrupt
        self.noticed = True
