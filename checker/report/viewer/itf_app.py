"""Screen for a trace in ITF of another tool: one state at a time, what changed marked."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from waterline.checker.report.viewer.look import FAULT, QUIET, REPEATS_MARK, Seen
from waterline.checker.report.viewer.stepping import KEYS_FIRST, KEYS_LAST, Dialog, StepViewer
from waterline.counterexamples.formats.itf_states import ItfTrace
from waterline.counterexamples.formats.itf_table import ItfTables, header

_KEYS = """j, Space, down   next state
k, up            the one before
PgDn, PgUp       10 states on, 10 back
g, G             the first, the last
l                where the states begin to repeat
t                only what changed, or all
J, K             scroll the state
q                quit"""


class ItfViewer(StepViewer):
    """Steps through the states."""

    STATE = "#state"
    CSS = """
    #headline { height: 2; border-bottom: solid $panel; }
    #state { height: 1fr; }
    #state > Static { width: 100%; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *KEYS_FIRST,
        Binding("l", "loop", "loop"),
        *KEYS_LAST,
    ]

    def __init__(self, trace: ItfTrace) -> None:
        super().__init__(len(trace.states) - 1)
        self.trace = trace
        self.tables = ItfTables(trace)

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="headline")
        with VerticalScroll(id="state", can_focus=False):
            yield Static(id="values")
        yield Footer(compact=True)

    def show(self, step: int, note: str = "") -> None:
        """Go to a state, the nearest that exists; `note` is shown next to its number."""
        last = self.steps
        self.step = max(0, min(step, last))
        line = self.tables.title(self.step)
        line.append(f"  of {last}", QUIET)
        if self.trace.loop is not None and self.step >= self.trace.loop:
            line.append(f"  {REPEATS_MARK} {self.trace.loop} to {last} repeat", FAULT)
        if note:
            line.append(f"  {note}", QUIET)
        table = self.tables.table(self.step, only_changes=self.only_changes)
        for name, part in {"#headline": line, "#values": table}.items():
            self.query_one(name, Static).update(Seen(part, colours=not self.no_color))

    def action_loop(self) -> None:
        """The state that follows the last one."""
        if self.trace.loop is None:
            self.show(self.step, "nothing repeats")
        else:
            self.show(self.trace.loop)

    def action_help(self) -> None:
        """Show the tool's description of the trace, and the meaning of each key."""
        said = [f"{key}: {text}" for key, text in self.trace.described.items()]
        self.push_screen(
            Dialog("help", Text("\n".join([header(self.trace).plain, *said, "", _KEYS])))
        )
