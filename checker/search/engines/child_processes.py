"""Child processes, each served over a pipe; they end with the process that started them.

When that is killed, there is nobody at the other end of their pipes. The interrupt of a terminal is
left to it: a child ignores SIGINT.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

END_SECONDS = 5.0
_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Child:
    """A process, and our end of its pipe."""

    process: BaseProcess
    pipe: Connection


def spawn(serve: Callable[..., None], *given: Any) -> Child:
    """A process that calls `serve(pipe, *given)`, which is found by its name there."""
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serving, args=(serve, theirs, given), daemon=True)
    # It inherits what is blocked: a Ctrl-C while it is still importing is ours, not its own.
    # Python's tracker of resources, begun with the first process, would unblock it again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return Child(process, ours)


def end(children: Iterable[Child]) -> None:
    """Terminate them all, and kill what does not end in 5 s."""
    ending = list(children)
    for child in ending:
        child.pipe.close()
        child.process.terminate()
    for child in ending:
        child.process.join(END_SECONDS)
        if child.process.is_alive():
            child.process.kill()
            child.process.join()


def _serving(serve: Callable[..., None], pipe: Connection, given: tuple[Any, ...]) -> None:
    """Serve until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        serve(pipe, *given)
