"""The viewer's screen: steps on the left, the cluster on the right, reasons below.

Where one is is one number, the step; everything shown follows from it (`Viewer.show`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.console import Console, Group, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Footer, Input, Static

from waterline.checker.kafka.narrative.cluster import CONSUMER, CONTROLLER, NETWORK
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.problem.where import Condition
from waterline.checker.report.viewer.lanes import LEGEND, picture
from waterline.checker.report.viewer.look import (
    CHANGED,
    FAULT,
    FAULT_MARK,
    QUIET,
    REASON_MARK,
    REPEATS_MARK,
    WHERE_MARK,
    Seen,
    actor_style,
    plain,
)
from waterline.checker.report.viewer.sentences import (
    describe,
    describe_claim,
    describe_keys,
    describe_where,
    differences,
    headline,
    phrase,
)
from waterline.checker.report.viewer.stepping import KEYS_FIRST, KEYS_LAST, Dialog, StepViewer
from waterline.counterexamples.state_table import facts, state_table, widths_of
from waterline.model.core.claim import Claim

WIDE = 46
"""Columns at least where a step is described in full, on as many lines as it needs."""
TOLD_STEPS_MAX = 200
"""Most steps of a list of several lines a step: where each begins is worked out for all."""
_SHORT = {CONTROLLER: "ctl", CONSUMER: "con", NETWORK: "net"}
_SHORT_WIDTH = 3
_CONSOLE = Console(color_system="truecolor", force_terminal=True, _environ={})


class Steps(ScrollView):
    """A line a step, the initial state first; a click chooses one. Only visible ones are drawn."""

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
        """Return the actor, padded to one width; the controller has a short name."""
        described = _SHORT.get(actor, actor)
        return described.ljust(max(self.actor_width, _SHORT_WIDTH))


_NARROW_LIST = 26
"""Columns of a list of steps by names alone."""
_BORDER = 2
"""Columns of the border and the scroll bar of the list."""
_CLUSTER = 62
"""Columns that the picture of a cluster needs, as a rule."""
_PICTURE_WIDTH_MIN = 10


class Pane(VerticalScroll):
    """Where the picture is; it says when it has another size."""

    class Resized(Message):
        """There is more room, or less."""

    def on_resize(self) -> None:
        """Say so."""
        self.post_message(self.Resized())


class Viewer(StepViewer):
    """Steps through one counterexample."""

    STATE = "#cluster"
    CSS = """
    Screen { layout: vertical; }
    #headline { height: 1; }
    #middle { height: 1fr; }
    #steps { width: 26; height: 100%; border-right: solid $panel; scrollbar-size-vertical: 1; }
    #cluster { width: 1fr; height: 100%; padding: 0 0 0 1; scrollbar-size-vertical: 1; }
    #cluster > Static { width: 100%; height: auto; }
    #told { height: auto; min-height: 5; max-height: 9; border-top: solid $panel; }
    #search { display: none; height: 1; border: none; padding: 0; }
    #search.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *KEYS_FIRST,
        Binding("n", "same_actor(1)", "same actor"),
        Binding("N", "same_actor(-1)", show=False),
        Binding("f", "fault(1)", "fault"),
        Binding("F", "fault(-1)", show=False),
        Binding("w", "where(1)", show=False),
        Binding("W", "where(-1)", show=False),
        Binding("slash", "search", "find", key_display="/"),
        Binding("c", "claim", "claim"),
        *KEYS_LAST,
        Binding("escape", "close_search", show=False),
    ]

    def __init__(self, story: Story, claim: Claim, asked: Condition | None = None) -> None:
        super().__init__(story.steps)
        self.story = story
        self.claim = claim
        self.sought = ""
        self.note = ""
        self.actors = _actors(story)
        self.asked = asked
        self.so = frozenset(_so(story, asked) if asked is not None else ())

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="headline")
        with Horizontal(id="middle"):
            yield Steps(self.story, self.actors, self.so, id="steps")
            with Pane(id="cluster", can_focus=False):
                yield Static(id="picture")
        yield Static(id="told")
        yield Input(id="search", compact=True, placeholder="find in what is told; Enter, Esc")
        yield Footer(compact=True)

    def on_resize(self, event: events.Resize) -> None:
        """Give the steps what whole sentences need, as far as the picture leaves it."""
        steps, whole = self.query_one(Steps), event.size.width
        room = min(whole * 3 // 5, max(whole - self._picture_width(), whole * 9 // 20))
        if room < WIDE + _BORDER:
            room = min(_NARROW_LIST + len(str(self.story.steps)), whole * 2 // 5)
        steps.styles.width = min(room, steps.widest + _BORDER)

    def _picture_width(self) -> int:
        """Columns that the picture needs: of a table those of its widest cells."""
        if self.story.is_of_kafka:
            return _CLUSTER
        replayed = self.story.replayed
        titles = replayed.narration.rows(replayed.initial)[0]
        widths = widths_of(replayed.narration, replayed.states[: TOLD_STEPS_MAX + 1])
        return sum(max(len(title), width) + 3 for title, width in zip(titles, widths, strict=True))

    def on_pane_resized(self, event: Pane.Resized) -> None:
        """Draw the picture anew, as wide as there is room for now."""
        self.show(self.step, self.note)

    def show(self, step: int, note: str = "") -> None:
        """Go to a step, the nearest that exists; `note` is shown next to its number."""
        self.step = max(0, min(step, self.story.steps))
        self.note = note
        line = headline(self.story, self.step, note)
        if self.asked is not None:
            line.append_text(describe_where(self.asked.text, so=self.step in self.so))
        parts = {
            "#headline": line,
            "#picture": self._picture(),
            "#told": describe(self.story, self.claim, self.step, self.actors),
        }
        for name, part in parts.items():
            self.query_one(name, Static).update(Seen(part, colours=not self.no_color))
        self.query_one(Steps).show(self.step)

    def _picture(self) -> RenderableType:
        states, narration = self.story.replayed.states, self.story.replayed.narration
        after = states[self.step]
        before = states[self.step - 1] if self.step else None
        if self.only_changes and before is not None:
            return Group(*differences(narration, before, after))
        if self.story.is_of_kafka:
            room = self.query_one("#cluster").scrollable_content_region
            size = Size(max(room.width - 1, _PICTURE_WIDTH_MIN), room.height)
            return Group(*picture(self.story, self.step, size), Text(LEGEND, QUIET))
        table = state_table(narration, before, after, widths_of(narration, (after,)))
        return Group(*([table] if table.rows else []), facts(narration, before, after))

    def on_steps_chosen(self, event: Steps.Chosen) -> None:
        """A step was clicked."""
        self.show(event.step)

    def action_same_actor(self, direction: int) -> None:
        """The next step, or the one before, of who acts in this one."""
        if self.step == 0:
            self.show(1)
            return
        actor = self.story.actor(self.step)
        self._seek(direction, lambda step: self.story.actor(step) == actor, f"step of {actor}")

    def action_fault(self, direction: int) -> None:
        """The next fault, or the one before."""
        self._seek(direction, self.story.is_fault, "fault")

    def action_where(self, direction: int) -> None:
        """Go to the next or the previous state where the condition is true."""
        if self.asked is None:
            self.show(self.step, "no condition; give one with --where")
            return
        self._seek(direction, lambda step: step in self.so, "state where it is true", first=0)

    def _seek(
        self, direction: int, found: Callable[[int], bool], what: str, first: int = 1
    ) -> None:
        end = self.story.steps + 1 if direction > 0 else first - 1
        for step in range(self.step + direction, end, direction):
            if found(step):
                self.show(step)
                return
        self.show(self.step, f"no {'further' if direction > 0 else 'earlier'} {what}")

    def action_search(self) -> None:
        """Ask what to find."""
        box = self.query_one("#search", Input)
        box.add_class("asked")
        box.value = self.sought
        box.focus()

    def action_close_search(self) -> None:
        """Find nothing."""
        box = self.query_one("#search", Input)
        box.remove_class("asked")
        self.set_focus(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next step whose text contains the search term; wrap around at the end."""
        self.action_close_search()
        self.sought = event.value
        sought, steps = event.value.casefold(), self.story.steps
        if not sought:
            return
        for step in [*range(self.step + 1, steps + 1), *range(1, self.step + 1)]:
            if sought in self._search(step).casefold():
                self.show(step)
                return
        self.show(self.step, f"nothing is told of {event.value!r}")

    def _search(self, step: int) -> str:
        moment = self.story.replayed.moments[step - 1]
        return f"{moment} {self.story.sentence(step)} {self.story.why(step)}"

    def action_claim(self) -> None:
        """Show the claim, and where it breaks."""
        self.push_screen(Dialog("the claim", describe_claim(self.story, self.claim)))

    def action_help(self) -> None:
        """Show the meaning of each key."""
        self.push_screen(Dialog("help", describe_keys(self.story)))


def _so(story: Story, asked: Condition) -> Iterable[int]:
    """Yield the numbers of the states where a condition is true."""
    settings = story.model.settings
    for number, state in enumerate(story.replayed.states):
        if asked.holds(state, settings):
            yield number


def _actors(story: Story) -> list[str]:
    """Who acts, brokers in order of their numbers: each keeps its colour in every trace."""
    cluster = story.cluster(0)
    if cluster is not None:
        return [f"r{lane.replica}" for lane in cluster.lanes]
    return _in_order(story.actor(step) for step in range(1, story.steps + 1))


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))
