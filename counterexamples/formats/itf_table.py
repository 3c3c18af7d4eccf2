"""Tables of the states of another tool's trace: a row a variable, what changed marked.

A function or record that is long has a row for each argument or field, so that the eye finds which
of them changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from waterline.counterexamples.formats.itf_states import ItfTrace
from waterline.counterexamples.formats.itf_values import ItfValue
from waterline.counterexamples.rendering import CYCLE, Trimmed
from waterline.counterexamples.state_table import CHANGED, LEGEND, MARK
from waterline.counterexamples.style import QUIET, TITLE, columns

SPLIT_FROM = 32
"""Characters at least of a function or a record with a row for each of its parts."""
CELL_MAX = 2_000
"""Characters of a value that are shown."""
NAME_WIDTH_MAX = 36
_ABSENT = "-"
Rows = dict[str, str]
"""Texts on the right by those on the left."""


class ItfTables:
    """Tables of the states of a trace; which variables are split is the same in all of them."""

    def __init__(self, trace: ItfTrace) -> None:
        self.trace = trace
        self._split = {name: labels for name in trace.variables if (labels := self._labels(name))}

    def rows(self, number: int) -> Rows:
        """Every row of a state."""
        found: Rows = {}
        for name in self.trace.variables:
            value = self.trace.states[number].values[name]
            if name not in self._split:
                found[name] = value.text
                continue
            entries = {_label(name, value, key): part.text for key, part in value.entries or ()}
            found |= {label: entries.get(label, _ABSENT) for label in self._split[name]}
        return found

    def table(self, number: int, *, only_changes: bool = False) -> RenderableType:
        """A state, with what differs from the one before marked; or only that."""
        rows = self.rows(number)
        before = self.rows(number - 1) if number else rows
        table = columns()
        longest = max(map(len, rows))
        table.add_column(width=min(longest, NAME_WIDTH_MAX), overflow="fold", style=QUIET)
        table.add_column(overflow="fold")
        for label, text in rows.items():
            if before[label] != text:
                table.add_row(Text(label), Text(_cell(text) + MARK, CHANGED))
            elif not only_changes or not number:
                table.add_row(Text(label), Text(_cell(text)))
        return table if table.row_count else Text("nothing changes", QUIET)

    def title(self, number: int) -> Text:
        """Return the number of the state, and the step to it."""
        taken = self.trace.states[number].taken
        line = Text(f"State {number}", TITLE)
        if not number:
            return line.append("  initial", QUIET)
        return line.append(f"  {taken}", "bold cyan") if taken else line

    def repeats(self, number: int) -> str:
        """Return the line before a state where states begin to repeat, "" for others."""
        if self.trace.loop != number:
            return ""
        last = len(self.trace.states) - 1
        if number == last:
            return f"State {number} stays for ever:"
        return f"States {number} to {last} repeat for ever:"

    def _labels(self, name: str) -> tuple[str, ...]:
        values = [state.values[name] for state in self.trace.states]
        if not any(len(value.text) > SPLIT_FROM for value in values):
            return ()
        if any(value.entries is None for value in values):
            return ()
        found = {
            _label(name, value, key): None for value in values for key, _ in value.entries or ()
        }
        return tuple(found)


def render_itf(trace: ItfTrace) -> RenderableType:
    """Render the tool's description of the trace, then every state."""
    return Trimmed(Group(*_parts(trace)))


def _parts(trace: ItfTrace) -> Iterator[RenderableType]:
    tables, last = ItfTables(trace), len(trace.states) - 1
    yield header(trace)
    for key, text in trace.described.items():
        yield Text(f"{key}: {text}", QUIET)
    yield Text(LEGEND, QUIET)
    for number in range(last + 1):
        yield Text()
        if repeats := tables.repeats(number):
            yield Text(repeats, CYCLE)
        yield tables.title(number)
        yield tables.table(number)
    if trace.loop is not None:
        yield Text()
        yield Text(f"After state {last} follows state {trace.loop} again.", CYCLE)


def header(trace: ItfTrace) -> Text:
    """Return the size of the trace, and a note that it is unconfirmed."""
    states = f"{len(trace.states):,} state{'s' if len(trace.states) > 1 else ''}"
    return Text.assemble(
        (f"Trace {trace.form}", TITLE),
        f": {states}, as the file has them; its model is not known here",
    )


def _label(name: str, value: ItfValue, key: str) -> str:
    return f"{name}.{key}" if value.is_record else f"{name}[{key}]"


def _cell(text: str) -> str:
    if len(text) <= CELL_MAX:
        return text
    return f"{text[:CELL_MAX]}... ({len(text):,} characters)"
