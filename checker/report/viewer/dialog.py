"""Parts of both viewers: a dialog that any key closes, and the end by a signal."""

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


def exit_on_sigterm(app: App[int]) -> None:
    """Exit with `ENDED_BY_SIGNAL` on SIGTERM; call it once the app is mounted."""
    with contextlib.suppress(NotImplementedError):  # no signals where there is no Unix
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGTERM, lambda: app.exit(ENDED_BY_SIGNAL)
        )
