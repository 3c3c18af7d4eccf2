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

from waterline.checker.kafka.narrative.cluster import CONSUMER, CONTROLLER, NETWORK
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.viewer.look import (
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
from waterline.checker.report.viewer.sentences import phrase

WIDE = 46
"""Columns at least where a step is described in full, on as many lines as it needs."""
TOLD_STEPS_MAX = 200
"""Most steps of a list of several lines a step: where each begins is worked out for all."""
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
        self.rows: list[tuple[int, Text]] = []
        self.virtual_size = Size(1, story.steps + 1)

    @property
    def widest(self) -> int:
        """Columns needed to show every step on one line."""
        steps = range(min(self.story.steps, TOLD_STEPS_MAX) + 1)
        return max(line.cell_len for step in steps for line in self.lines(step))

    def on_resize(self) -> None:
        """Write the steps again, as wide as there is room for now."""
        width = self.content_size.width - self.styles.scrollbar_size_vertical
        steps = self.story.steps
        shown = range(steps + 1) if width >= WIDE and steps <= TOLD_STEPS_MAX else ()
        self.rows = [(step, line) for step in shown for line in self.lines(step, width)]
        self.virtual_size = Size(1, len(self.rows) or steps + 1)
        self.show(self.current)

    def show(self, step: int) -> None:
        """Mark a step as the current one, and scroll it into sight."""
        self.current = step
        lines = [row for row, (shown, _) in enumerate(self.rows) if shown == step] or [step]
        self.scroll_to_region(Region(0, lines[0], 1, len(lines)), animate=False, x_axis=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line at height `y` of what is seen."""
        row, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if row >= self.virtual_size.height:
            return Strip.blank(width, self.rich_style)
        step, line = self.rows[row] if self.rows else (row, self.lines(row, width)[0])
        line = line.copy()
        line.truncate(width, overflow="ellipsis")
        style = self.rich_style
        if step == self.current:
            # In one colour: reversed, many would be a patchwork.
            is_first = not row or not self.rows or self.rows[row - 1][0] != step
            line, style = Text(">" * is_first + line.plain[is_first:]), style + Style(reverse=True)
        drawn = line.render(_CONSOLE, end="")
        segments = Segment.apply_style(
            Segment.remove_color(drawn) if self.app.no_color else drawn, style
        )
        return Strip(segments).adjust_cell_length(width, style)

    def lines(self, step: int, width: int | None = None) -> list[Text]:
        """Number, whether it matters or is a fault, and what happens, on as many lines as it needs.

        A list that is too narrow for that has who acts, and the name of the action. Without a
        width, and in a long list, it is one line.
        """
        line = Text(f" {step:{len(str(self.story.steps))}} ")
        if self.so:
            line.append(WHERE_MARK if step in self.so else " ", CHANGED)
        if step == 0:
            return [line.append("   initial state", QUIET)]
        # No fault is on a cycle: each uses up one of those that there are.
        mark = FAULT_MARK if self.story.is_fault(step) else " "
        line.append(REPEATS_MARK if self.story.repeats(step) else mark, FAULT)
        line.append(f"{REASON_MARK if self.story.why(step) else ' '} ")
        if width is not None and width < WIDE:
            actor = self.story.actor(step)
            line.append_text(plain(self._short(actor), actor_style(actor, self.actors)))
            return [line.append_text(plain(f" {self.story.replayed.moments[step - 1].action}"))]
        text = phrase(self.story, step, self.actors)
        if width is None or self.story.steps > TOLD_STEPS_MAX:
            return [line.append_text(text)]
        first, *others = text.wrap(_CONSOLE, width - line.cell_len)
        indent = " " * line.cell_len
        return [line.append_text(first), *(Text(indent).append_text(other) for other in others)]

    def on_click(self, event: Click) -> None:
        """Choose the step that was clicked."""
        row = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= row < self.virtual_size.height:
            self.post_message(self.Chosen(self.rows[row][0] if self.rows else row))

    def _short(self, actor: str) -> str:
        """Who acts, in as many columns for all; the controller has few."""
        described = _SHORT.get(actor, actor)
        return described.ljust(max(self.actor_width, _SHORT_WIDTH))
