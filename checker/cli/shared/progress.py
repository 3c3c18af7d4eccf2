"""Progress on standard error: a live table in a terminal, else a line now and then.

A plain stream gets its first line only after some seconds, so that a short run stays quiet.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Literal

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.shared.screen import Screen, say
from waterline.checker.problem.wording import rough_time, roughly
from waterline.checker.search.engines.processes import resident_bytes
from waterline.checker.search.eta import Outlook, outlook
from waterline.counterexamples.style import TITLE, columns

if TYPE_CHECKING:
    from waterline.checker.search.search import Snapshot


PLAIN_SECONDS = 5.0
"""Seconds between two lines where the output is not a terminal."""
SAME_LINE_SECONDS = 60.0
"""Seconds after which the same line is printed again, so that a reader sees that it runs."""
LEVELS_SHOWN = 12
_COLUMNS = {
    "Level": 5,
    "On": 6,
    "New states": 13,
    "Growth": 6,
    "Generated": 13,
    "States/s": 8,
    "Elapsed": 7,
}
"""Titles, and widths wide enough that the table seldom grows."""


class Progress:
    """Shows snapshots; `announce` says what is waited for, `report` how far something else is."""

    def __init__(self, console: Screen, live: LiveView | None = None) -> None:
        self._console = console
        self._live = live
        self._begun = False
        self._last_line = self._started = time.monotonic()
        self._last_report = ""
        self._violated: frozenset[str] = frozenset()

    def announce(self, message: str) -> None:
        """Say what takes long now."""
        if self._live is not None:
            self._live.message = message
        else:
            self._print(message)

    def note(self, line: str, *, is_news: bool = True) -> None:
        """Leave a line above what is shown live; on a plain stream only one that `is_news`."""
        if self._live is not None or is_news:
            self._print(line)

    def watch(self, snapshot: Snapshot) -> None:
        """Show a level that has been checked; in a long run say at once what it violates."""
        if snapshot.depth == 0:
            self._violated = frozenset()  # another search
        if snapshot.seconds >= PLAIN_SECONDS and set(snapshot.violated) > self._violated:
            self._print(violated_line(snapshot, self._violated))
            self._violated = frozenset(snapshot.violated)
        if self._live is not None:
            self._live.take(snapshot)
        else:
            self._now_and_then(lambda: line_of(snapshot))

    def report(self, line: str) -> None:
        """Show how far something is that has no levels of a search."""
        if self._live is not None:
            self._live.message = line
        elif line != self._last_report or self._is_silent_for(SAME_LINE_SECONDS):
            self._now_and_then(lambda: self._stamp(line))

    def _stamp(self, line: str) -> str:
        """The line with the time since the beginning, which a reader of a file has not."""
        self._last_report = line
        return f"{line} ({rough_time(time.monotonic() - self._started)})"

    def _is_silent_for(self, seconds: float) -> bool:
        return time.monotonic() - self._last_line >= seconds

    def _now_and_then(self, line: Callable[[], str]) -> None:
        if not self._begun:
            self._begun = True
            self._last_line = time.monotonic()
        elif time.monotonic() - self._last_line >= PLAIN_SECONDS:
            self._print(line())

    def _print(self, line: str) -> None:
        say(line, on=self._console)
        self._last_line = time.monotonic()


@contextmanager
def showing(console: Screen) -> Iterator[Progress]:
    """Progress on `console` while the block runs."""
    if console.is_terminal:
        view = LiveView()
        with Live(console=console, get_renderable=view.render, transient=True):
            yield Progress(console, view)
    else:
        yield Progress(console)


class LiveView:
    """The view on a terminal, redrawn several times a second: the last levels and the totals.

    `message` replaces the totals while the command waits for something else.
    """

    def __init__(self) -> None:
        self.message: str | None = "starting"
        self._snapshots: list[Snapshot] = []
        self._outlook: Outlook | None = None
        self._taken = time.monotonic()
        self._spinner = Spinner("dots")

    def take(self, snapshot: Snapshot) -> None:
        """A level has been checked."""
        if self._snapshots and snapshot.depth == 0:
            self._snapshots = []  # another search
        self._snapshots = [*self._snapshots[-LEVELS_SHOWN:], snapshot]
        self._outlook = outlook(snapshot.levels)
        self._taken = time.monotonic()
        self.message = None

    def render(self) -> RenderableType:
        """The table, and the totals as of now."""
        if not self._snapshots:
            self._spinner.update(text=Text(self.message or ""))
            return self._spinner
        since = time.monotonic() - self._taken
        last = self._snapshots[-1]
        self._spinner.update(text=Text(self.message or totals(last, since)))
        doing = f"expanding level {last.depth} for {rough_time(since)}; "
        rest = "" if self.message else f"  {doing}{describe(self._outlook, since)}"
        return Group(levels_table(self._snapshots), self._spinner, Text(rest))


def levels_table(snapshots: list[Snapshot]) -> Table:
    """The last levels, one a line; what led to a level is known if the one before was watched."""
    table = columns(header=TITLE)
    for title, width in _COLUMNS.items():
        justify: Literal["left", "right"] = "left" if title == "On" else "right"
        table.add_column(title, justify=justify, min_width=width, no_wrap=True)
    generated = {s.depth: s.generated for s in snapshots}
    elapsed = {s.depth: s.seconds for s in snapshots}
    levels = snapshots[-1].levels
    for level in levels[-LEVELS_SHOWN:]:
        depth = level.depth
        before = levels[depth - 1].states if depth else 0
        known = depth in generated and depth - 1 in generated
        table.add_row(
            str(depth),
            level.on,
            f"{level.states:,}",
            f"x{level.states / before:.2f}" if before else "",
            f"{generated[depth] - generated[depth - 1]:,}" if known else "",
            roughly(level.states / level.seconds) if level.seconds > 0 else "",
            _clock(elapsed[depth]) if depth in elapsed else "",
        )
    return table


def totals(snapshot: Snapshot, since: float) -> str:
    """`1,988,158 states, 7,491,589 transitions, 12 s, 512 MB`"""
    return (
        f"{snapshot.distinct:,} states, {snapshot.generated:,} generated, "
        f"{rough_time(snapshot.seconds + since)}, {resident_bytes() / 1e6:,.0f} MB"
    )


def describe(estimate: Outlook | None, since: float = 0.0) -> str:
    """`about 3 min left, 41 M states in all`"""
    if estimate is None:
        return "ETA unknown"
    states = f"{roughly(estimate.states)} states in all"
    if estimate.seconds is None:
        return f"ETA unknown, about {states}"
    return f"about {rough_time(max(0.0, estimate.seconds - since))} left, {states}"


def line_of(snapshot: Snapshot) -> str:
    """Return a line of progress: level, frontier, growth, totals, and an estimate of the rest."""
    rate = snapshot.distinct / snapshot.seconds if snapshot.seconds > 0 else 0.0
    grown = ""
    if len(snapshot.levels) > 1:
        grown = f" (x{snapshot.frontier / snapshot.levels[-2].states:.2f})"
    return (
        f"level {snapshot.depth} on {snapshot.on}: frontier {snapshot.frontier:,}{grown}, "
        f"{totals(snapshot, 0.0)}, {roughly(rate)} states/s, {describe(outlook(snapshot.levels))}"
    )


def violated_line(snapshot: Snapshot, known: frozenset[str]) -> str:
    """`level 22: acknowledged_durable is violated; the search goes on (...)`"""
    names = [name for name in snapshot.violated if name not in known]
    verb = "is" if len(names) == 1 else "are"
    return (
        f"level {snapshot.depth}: {', '.join(names)} {verb} violated; the search goes on "
        "(Ctrl-C ends it and shows the steps; --stop-at-first does so by itself)"
    )


def _clock(seconds: float) -> str:
    """Tenths as long as they say something."""
    return f"{seconds:.1f} s" if seconds < 9.95 else rough_time(seconds)


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
