"""Steps forth and back through a trace: what both viewers share, with their dialog."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from waterline.checker.report.viewer.look import Seen

ENDED_BY_SIGNAL = 128 + signal.SIGTERM


class Dialog(ModalScreen[None]):
    """`text` with a title; Escape, q, Enter or the key that opened it closes it."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > VerticalScroll {
        width: 90%; max-width: 96; height: auto; max-height: 90%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,c,question_mark", "dismiss", "Close"),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self.title_text = title
        self.text = text

    def compose(self) -> ComposeResult:
        """A box that scrolls."""
        box = VerticalScroll(Static(Seen(self.text, colours=not self.app.no_color)))
        box.border_title = Text(self.title_text).markup
        box.border_subtitle = "Esc closes"
        yield box

    def action_scroll(self, lines: int) -> None:
        """Scroll where the text is longer than the box."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def on_click(self) -> None:
        """A click closes it, as a key does."""
        self.dismiss()


_TURN = 10
"""Steps that a page key moves."""
KEYS_FIRST: list[BindingType] = [
    Binding("j,down,space,right", "go(1)", "next", key_display="j"),
    Binding("k,up,left", "go(-1)", "back", key_display="k"),
    Binding("pagedown", f"go({_TURN})", show=False),
    Binding("pageup", f"go(-{_TURN})", show=False),
    Binding("g,home", "first", show=False),
    Binding("G,end", "last", "last", key_display="G"),
]
KEYS_LAST: list[BindingType] = [
    Binding("t", "changes", "changes"),
    Binding("J", "scroll_state(1)", show=False),
    Binding("K", "scroll_state(-1)", show=False),
    Binding("question_mark", "help", "help", key_display="?"),
    Binding("q,ctrl+c", "leave", "quit", key_display="q"),
    Binding("ctrl+z", "suspend_process", show=False),
]
"""Keys of both viewers; the footer shows those of one viewer between them."""


class StepViewer(App[int]):
    """Shows the state after each of `steps` steps; its return value is the exit code.

    `only_changes` leaves out what the step did not change.
    """

    TITLE = "waterline view"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = ""  # keys are the screen's own, but while one types what to find
    STATE: ClassVar[str]
    """The part of the screen that has the state, and scrolls."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.step = 0
        self.only_changes = False

    def show(self, step: int, note: str = "") -> None:
        """Go to a step, the nearest that exists; `note` is shown next to its number."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Show the initial state, and exit in order on SIGTERM."""
        with contextlib.suppress(NotImplementedError):  # no signals where there is no Unix
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGTERM, lambda: self.exit(ENDED_BY_SIGNAL)
            )
        # Textual does not draw what the shell has drawn over; it does once it is told to.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.show(0)

    def action_go(self, steps: int) -> None:
        """Some steps on, or back."""
        self.show(self.step + steps)

    def action_first(self) -> None:
        """The initial state."""
        self.show(0)

    def action_last(self) -> None:
        """The last state."""
        self.show(self.steps)

    def action_changes(self) -> None:
        """All of the state, or what the step changed."""
        self.only_changes = not self.only_changes
        self.show(self.step)

    def action_scroll_state(self, lines: int) -> None:
        """Scroll the state."""
        self.query_one(self.STATE).scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        """End it."""
        self.exit(0)
