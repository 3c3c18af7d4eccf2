"""SIGTERM handled like Ctrl-C by commands that have a partial answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ending_as_by_ctrl_c() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM while the block runs.

    Schedulers send it before they kill. Only the main thread may handle it; others do nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
