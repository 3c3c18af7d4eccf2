"""Colours and marks. What a colour says a mark says too, for a screen without colours.

The colours are of middle brightness, to be read on a dark and on a light screen.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from waterline.checker.kafka.narrative.cluster import CONSUMER, CONTROLLER, NETWORK
from waterline.checker.problem.wording import printable

CHANGED = "bold #d7a100"
QUIET = "#878787"
DOOMED = "bold #e05555"
GONE = "bold strike #e05555"
DIFFERENT = "bold #d97b2b"
FAULT = "bold #e05555"
REASON = "italic"
TITLE = "bold"

CHANGED_MARK = "*"
DOOMED_MARK = "!"
GONE_MARK = "\N{MULTIPLICATION SIGN}"
FAULT_MARK = "!"
REASON_MARK = ">"
WHERE_MARK = "="
REPEATS_MARK = "\N{CLOCKWISE OPEN CIRCLE ARROW}"

_BROKERS = ("#3f9bd1", "#c66bbd", "#5ea84a", "#cf8a3a", "#8f86e0", "#3aa893", "#b3a03a")
_OTHERS = {CONTROLLER: "#a8795c", CONSUMER: "#7f9a3f", NETWORK: QUIET, "": QUIET}


def actor_style(actor: str, actors: Iterable[str]) -> str:
    """Return the colour of one of `actors`; colours differ while there are enough."""
    if actor in _OTHERS:
        return _OTHERS[actor]
    named = [name for name in actors if name not in _OTHERS]
    return _BROKERS[named.index(actor) % len(_BROKERS)] if actor in named else QUIET


def plain(text: str, style: str = "") -> Text:
    """Return a text without markup and with its control characters spelled out."""
    return Text("\n".join(map(printable, text.split("\n"))), style)


class Seen:
    """A renderable shown without control sequences.

    Without `colours` all is in one colour: in greys, the important parts would be hardest to read.
    """

    def __init__(self, whole: RenderableType, *, colours: bool) -> None:
        self.whole = whole
        self.colours = colours

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        segments = console.render(self.whole, options)
        for segment in segments if self.colours else Segment.remove_color(segments):
            text, style, control = segment
            if not control:
                yield Segment("\n".join(map(printable, text.split("\n"))), style)
