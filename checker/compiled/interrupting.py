"""Ctrl-C while LLVM works.

A signal that comes while compiled code runs is raised in the first Python that is called back, and
an exception there is lost: it is printed, and something fails later, or nothing does. Here it is
remembered, and raised when the work is over or has failed.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def ctrl_c_counts() -> Iterator[None]:
    """Whatever becomes of an interrupt inside, it leaves as `KeyboardInterrupt`."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    interrupts: list[int] = []
    report = sys.unraisablehook

    def note(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        usual(number, frame)

    def report_others(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            report(lost)

    signal.signal(signal.SIGINT, note)
    sys.unraisablehook = report_others
    try:
        yield
    except Exception:
        if interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, usual)
        sys.unraisablehook = report
    if interrupts:
        raise KeyboardInterrupt
