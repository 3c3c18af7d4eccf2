"""Screen for a trace in ITF of another tool: one state at a time, what changed marked."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from waterline.checker.report.viewer.dialog import Dialog, exit_on_sigterm
from waterline.checker.report.viewer.look import FAULT, QUIET, REPEATS_MARK, Seen
from waterline.counterexamples.formats.itf_states import ItfTrace
from waterline.counterexamples.formats.itf_table import ItfTables, header

_TURN = 10
"""States that a page key moves."""
_KEYS = """j, Space, down   next state
k, up            the one before
PgDn, PgUp       10 states on, 10 back
g, G             the first, the last
l                where the states begin to repeat
t                only what changed, or all
J, K             scroll the state
q                quit"""


class ItfViewer(App[int]):
    """Steps through the states; its return value is the exit code."""

    TITLE = "waterline view"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = ""
    CSS = """
    #headline { height: 2; border-bottom: solid $panel; }
    #state { height: 1fr; }
    #state > Static { width: 100%; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down,space,right", "go(1)", "next", key_display="j"),
        Binding("k,up,left", "go(-1)", "back", key_display="k"),
        Binding("pagedown", f"go({_TURN})", show=False),
        Binding("pageup", f"go(-{_TURN})", show=False),
        Binding("g,home", "first", show=False),
        Binding("G,end", "last", "last", key_display="G"),
        Binding("l", "loop", "loop"),
        Binding("t", "changes", "changes"),
        Binding("J", "scroll_state(1)", show=False),
        Binding("K", "scroll_state(-1)", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q,ctrl+c", "leave", "quit", key_display="q"),
        Binding("ctrl+z", "suspend_process", show=False),
    ]

    def __init__(self, trace: ItfTrace) -> None:
        super().__init__()
        self.trace = trace
        self.tables = ItfTables(trace)
        self.number = 0
        self.only_changes = False

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="headline")
        with VerticalScroll(id="state", can_focus=False):
            yield Static(id="values")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Show the initial state, and exit in order on SIGTERM."""
        exit_on_sigterm(self)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.show(0)

    def show(self, number: int, note: str = "") -> None:
        """Go to a state, the nearest that exists; `note` is shown next to its number."""
        last = len(self.trace.states) - 1
        self.number = max(0, min(number, last))
        line = self.tables.title(self.number)
        line.append(f"  of {last}", QUIET)
        if self.trace.loop is not None and self.number >= self.trace.loop:
            line.append(f"  {REPEATS_MARK} {self.trace.loop} to {last} repeat", FAULT)
        if note:
            line.append(f"  {note}", QUIET)
        table = self.tables.table(self.number, only_changes=self.only_changes)
        for name, part in {"#headline": line, "#values": table}.items():
            self.query_one(name, Static).update(Seen(part, colours=not self.no_color))

    def action_go(self, states: int) -> None:
        """Some states on, or back."""
        self.show(self.number + states)

    def action_first(self) -> None:
        """The initial state."""
        self.show(0)

    def action_last(self) -> None:
        """The last state."""
        self.show(len(self.trace.states) - 1)

    def action_loop(self) -> None:
        """The state that follows the last one."""
        if self.trace.loop is None:
            self.show(self.number, "nothing repeats")
        else:
            self.show(self.trace.loop)

    def action_changes(self) -> None:
        """All of the state, or what the step changed."""
        self.only_changes = not self.only_changes
        self.show(self.number)

    def action_scroll_state(self, lines: int) -> None:
        """Scroll the state."""
        self.query_one("#state").scroll_relative(y=lines, animate=False)

    def action_help(self) -> None:
        """Show the tool's description of the trace, and the meaning of each key."""
        said = [f"{key}: {text}" for key, text in self.trace.described.items()]
        self.push_screen(
            Dialog("help", Text("\n".join([header(self.trace).plain, *said, "", _KEYS])))
        )

    def action_leave(self) -> None:
        """End it."""
        self.exit(0)
