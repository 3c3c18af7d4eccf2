"""List of steps that renders only visible lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from checker.kafka.narrative.cluster import CONSUMER, CONTROLLER, NETWORK
from checker.kafka.narrative.story import Story
from checker.report.viewer.look import (
    CHANGED,
    FAULT,
    FAULT_MARK,
    QUIET,
    REASON_MARK,
    REPEATS_MARK,
    WHERE_MARK,
    actor_style,
    plain,
)

WIDE = 46
"""Columns from which a line has room for what happened."""
_SHORT = {CONTROLLER: "ctl", CONSUMER: "con", NETWORK: "net"}
_SHORT_WIDTH = 3
_CONSOLE = Console(color_system="truecolor", force_terminal=True, _environ={})


class Steps(ScrollView):
    """A line a step, the initial state first; a click chooses one."""

    can_focus = False

    class Chosen(Message):
        """A step was clicked."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(
        self,
        story: Story,
        actors: Sequence[str],
        so: frozenset[int] = frozenset(),
        *,
        id: str,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.story = story
        self.actors = tuple(actors)
        self.so = so
        self.actor_width = max(map(len, actors), default=0)
        self.current = 0
        self.virtual_size = Size(1, story.steps + 1)

    def show(self, step: int) -> None:
        """Mark a step as the current one, and scroll it into sight."""
        self.current = step
        self.scroll_to_region(Region(0, step, 1, 1), animate=False, x_axis=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line at height `y` of what is seen."""
        step = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if step > self.story.steps:
            return Strip.blank(width, self.rich_style)
        line = self.line(step, width)
        style = self.rich_style
        if step == self.current:
            # In one colour: reversed, many would be a patchwork.
            line, style = Text(line.plain), style + Style(reverse=True)
        drawn = line.render(_CONSOLE, end="")
        segments = Segment.apply_style(
            Segment.remove_color(drawn) if self.app.no_color else drawn, style
        )
        return Strip(segments).adjust_cell_length(width, style)

    def line(self, step: int, width: int) -> Text:
        """Number, whether it matters or is a fault, who acts, and what it does."""
        digits = len(str(self.story.steps))
        line = Text(">" if step == self.current else " ")
        line.append(f"{step:{digits}} ")
        if self.so:
            line.append(WHERE_MARK if step in self.so else " ", CHANGED)
        if step == 0:
            line.append("   initial state", QUIET)
        else:
            matters = REASON_MARK if self.story.why(step) else " "
            # No fault is on a cycle: each uses up one of those that there are.
            mark = FAULT_MARK if self.story.is_fault(step) else " "
            line.append(REPEATS_MARK if self.story.repeats(step) else mark, FAULT)
            line.append(f"{matters} ")
            actor = self.story.actor(step)
            line.append_text(plain(self._short(actor), actor_style(actor, self.actors)))
            line.append(" ")
            described = self.story.replayed.moments[step - 1].action
            if width >= WIDE:
                described = self.story.sentence(step)
                if not self.story.is_of_kafka:
                    # Who acts stands before it already.
                    described = described.removeprefix(f"{actor} ")
            line.append_text(plain(" ".join(described.split())))
        line.truncate(width, overflow="ellipsis")
        return line

    def on_click(self, event: Click) -> None:
        """Choose the step that was clicked."""
        step = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= step <= self.story.steps:
            self.post_message(self.Chosen(step))

    def _short(self, actor: str) -> str:
        """Who acts, in as many columns for all; the controller has few."""
        described = _SHORT.get(actor, actor)
        return described.ljust(max(self.actor_width, _SHORT_WIDTH))
