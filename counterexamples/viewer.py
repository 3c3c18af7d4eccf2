"""Stepping through a trace in a terminal, a key at a time; into a pipe, the whole of it.

What a key means is a pure function of where one is; only `view` reads keys and writes to the
screen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import click
from rich.console import Console, Group
from rich.text import Text

from counterexamples.rendering import render_full, render_header, render_moment
from counterexamples.replay import Replayed
from counterexamples.state_table import QUIET, widths_of

HELP = "n next   p previous   g first   G last   q quit"

# Terminals send a sequence for an arrow; Windows consoles a prefix and a letter.
_NEXT = frozenset({"n", " ", "\r", "\n", "\x1b[C", "\x1bOC", "\xe0M"})
_PREVIOUS = frozenset({"p", "\x1b[D", "\x1bOD", "\xe0K"})
_FIRST = frozenset({"g", "\x1b[H", "\x1bOH", "\x1b[1~", "\xe0G"})
_LAST = frozenset({"G", "\x1b[F", "\x1bOF", "\x1b[4~", "\xe0O"})
_QUIT = frozenset({"q", "Q", "\x1b"})
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|[\x00\xe0].|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Position:
    """After which step one looks, of `last`; `done` once one has had enough."""

    step: int
    last: int
    done: bool = False


def press(position: Position, key: str) -> Position:
    """Where `key` leads. One that means nothing leads nowhere, nor does one past either end."""
    if key in _NEXT:
        return replace(position, step=min(position.step + 1, position.last))
    if key in _PREVIOUS:
        return replace(position, step=max(position.step - 1, 0))
    if key in _FIRST:
        return replace(position, step=0)
    if key in _LAST:
        return replace(position, step=position.last)
    return replace(position, done=True) if key in _QUIT else position


def keys(typed: str) -> list[str]:
    """The single keys in what a terminal delivered at once, as it does when a key is held down."""
    return _KEY.findall(typed)


def is_interactive(console: Console) -> bool:
    """Whether there is somebody at a screen who can press keys."""
    return sys.stdin.isatty() and console.file.isatty() and not console.is_dumb_terminal


def view(
    replayed: Replayed,
    console: Console,
    *,
    explanation: str = "",
    interactive: bool | None = None,
    getchar: Callable[[], str] = click.getchar,
) -> None:
    """Step through the trace, or print it whole where nobody can press a key.

    `interactive` None finds out. End of input and Ctrl-C leave like q.
    """
    if interactive is None:
        interactive = is_interactive(console)
    if not interactive:
        console.print(render_full(replayed, explanation=explanation))
        return
    position = Position(step=0, last=len(replayed.moments))
    widths = widths_of(replayed.narration, replayed.states)
    with console.screen():
        while not position.done:
            console.clear()
            moment = render_moment(replayed, position.step, explanation=explanation, widths=widths)
            footer = Text(HELP, style=QUIET)
            console.print(Group(render_header(replayed), Text(), moment, Text(), footer))
            try:
                typed = keys(getchar())
            except (EOFError, KeyboardInterrupt):
                return
            for key in typed:
                if not position.done:
                    position = press(position, key)
