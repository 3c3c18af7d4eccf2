"""How far a search has come, on standard error: a live line in a terminal, else a line now and
then.

A plain stream gets its first line only after some seconds, so that a short run stays quiet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.status import Status

from checker.search import Snapshot

PLAIN_SECONDS = 5.0
"""Seconds between two lines where nobody watches a terminal."""


class Progress:
    """Shows snapshots; `announce` says what is waited for."""

    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status
        self._previous: Snapshot | None = None
        self._last_line = time.monotonic()

    def announce(self, message: str) -> None:
        """Say what takes long now."""
        if self._status is not None:
            self._status.update(message)
        else:
            self._console.print(message, highlight=False, soft_wrap=True)
            self._last_line = time.monotonic()

    def watch(self, snapshot: Snapshot) -> None:
        """Show a level that has been checked."""
        if self._previous is None:
            self._last_line = time.monotonic()
        line = line_of(snapshot, self._previous)
        self._previous = snapshot
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last_line >= PLAIN_SECONDS:
            self._last_line = time.monotonic()
            self._console.print(line, highlight=False, soft_wrap=True)


@contextmanager
def showing(console: Console, *, quiet: bool = False) -> Iterator[Progress]:
    """Progress on `console` while the block runs."""
    if quiet:
        yield Progress(Console(quiet=True), None)
    elif console.is_terminal:
        with console.status("starting", spinner="dots") as status:
            yield Progress(console, status)
    else:
        yield Progress(console, None)


def line_of(snapshot: Snapshot, previous: Snapshot | None) -> str:
    """Level, frontier, distinct, generated, rate, memory and what can be said of the rest."""
    rate = snapshot.distinct / snapshot.seconds if snapshot.seconds > 0 else 0.0
    return (
        f"level {snapshot.depth} on {snapshot.on}: frontier {snapshot.frontier:,}, "
        f"distinct {snapshot.distinct:,}, generated {snapshot.generated:,}, "
        f"{rate / 1e3:,.0f} k states/s, {_resident_megabytes():,.0f} MB, "
        f"{snapshot.seconds:.0f} s, {_outlook(snapshot, previous, rate)}"
    )


def _outlook(snapshot: Snapshot, previous: Snapshot | None, rate: float) -> str:
    """Nothing can be told while the frontier grows; once it shrinks, a geometric tail."""
    if previous is None or previous.frontier == 0 or rate == 0:
        return "ETA unknown"
    growth = snapshot.frontier / previous.frontier
    if growth >= 0.95:
        return f"frontier x{growth:.2f}, ETA unknown"
    return f"ETA {snapshot.frontier * growth / (1 - growth) / rate:.0f} s"


def _resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * 4096 / 1e6
