r"""Terminal output of every command; control characters from files are escaped.

Control characters, and whatever else has no shape of its own, are spelled out as `\x1b`. That holds
for all text, wherever it is from. A name that is written elsewhere too is made `printable` where it
is read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from waterline.checker.problem.wording import printable


class Screen(Console):
    """A console that obeys nothing but its own styles."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return segments with all their characters printable."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            if control or text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(printable, text.split("\n"))), style)

    def on_broken_pipe(self) -> None:
        """End the command: the reader is gone. Output still to be flushed is discarded."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        raise SystemExit(1)


def screen() -> Screen:
    """Standard output."""
    return Screen()


def error_screen() -> Screen:
    """Standard error: for messages that are not results."""
    return Screen(stderr=True)


def say(line: str, *, on: Screen | None = None) -> None:
    """A line, by default on standard error: never folded, and its brackets are brackets."""
    (on or error_screen()).print(Text(line), soft_wrap=True)


def is_interactive() -> bool:
    """True if keys can be read and a whole screen can be drawn."""
    if sys.stdin is None or sys.stderr is None:  # the parent process closed it
        return False
    return sys.stdin.isatty() and sys.stderr.isatty() and _draws()


def _draws() -> bool:
    console = screen()
    return console.file.isatty() and not console.is_dumb_terminal
