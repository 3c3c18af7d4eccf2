"""Table of one state: a row per broker, facts below.

A cell that differs from the state before is in another colour and carries a trailing `*`, which
survives a pipe. Columns keep their width from step to step, so that the eye finds what moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from waterline.counterexamples.protocols import Narration, State
from waterline.counterexamples.style import QUIET, WARNING, columns

CHANGED = WARNING
MARK = "*"
LEGEND = f"{MARK} changed in this step"

_GAPS = (3, 2, 1)
"""Spaces between columns, the first that fits."""

_FOLDED_WIDTH_MIN = 4


@dataclass(frozen=True, slots=True)
class StateTable:
    """The table of one state; `widths` are those of the widest cells it is to line up with."""

    header: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    widths: tuple[int, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table(options.max_width)

    def _table(self, width: int) -> Table:
        """Return a table with one-line headers if they fit, else two-line or folded ones.

        Widths never depend on this one state's cells, so that columns stay where they are.
        """
        for header in (self.header, [title.replace(" ", "\n") for title in self.header]):
            columns = [
                max(cell, *map(len, title.split("\n")))
                for cell, title in zip(self.widths, header, strict=True)
            ]
            for gap in _GAPS:
                if sum(columns) + gap * (len(columns) - 1) <= width:
                    return self._laid_out(header, columns, gap)
        room = width - gap * (len(columns) - 1)
        while sum(columns) > room and max(columns) > _FOLDED_WIDTH_MIN:
            columns[columns.index(max(columns))] -= 1
        return self._laid_out(header, columns, gap)

    def _laid_out(self, header: Sequence[str], widths: Sequence[int], gap: int) -> Table:
        table = columns(gap=gap, header=QUIET)
        for title, width in zip(header, widths, strict=True):
            table.add_column(Text(title), width=width, overflow="fold", vertical="top")
        for row in self.rows:
            table.add_row(*row)
        return table


@dataclass(frozen=True, slots=True)
class Facts:
    """Labelled values side by side, a new line only between two of them."""

    pairs: tuple[Text, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for pair in self.pairs:
            if line and line.cell_len + 3 + pair.cell_len > options.max_width:
                yield line
                line = Text()
            if line:
                line.append("   ")
            line.append_text(pair)
        if line:
            yield line


def widths_of(narration: Narration, states: Iterable[State]) -> tuple[int, ...]:
    """The width that each column needs for every one of `states`, marks included."""
    widest: list[int] = []
    before: list[list[str]] = []
    for state in states:
        header, *rows = narration.rows(state)
        widest = widest or [0] * len(header)
        for row, old in zip(rows, before or rows, strict=True):
            for column, (cell, was) in enumerate(zip(row, old, strict=True)):
                width = len(mark(cell, was, narration.elements).plain)
                widest[column] = max(
                    widest[column], width, len(cell) + (len(MARK) if column else 0)
                )
        before = rows
    return tuple(widest)


def state_table(
    narration: Narration, before: State | None, state: State, widths: tuple[int, ...]
) -> StateTable:
    """The table of `state`, with what differs from `before` marked; None marks nothing."""
    header, *rows = narration.rows(state)
    old = narration.rows(before)[1:] if before is not None else rows
    cells = tuple(
        tuple(mark(cell, was, narration.elements) for cell, was in zip(row, old_row, strict=True))
        for row, old_row in zip(rows, old, strict=True)
    )
    return StateTable(tuple(header), cells, widths)


def facts(narration: Narration, before: State | None, state: State) -> Facts:
    """Return the facts that belong to no row, with changes from `before` marked."""
    pairs = narration.summary(state)
    old = dict(narration.summary(before)) if before is not None else dict(pairs)
    return Facts(
        tuple(
            Text.assemble(
                (f"{label}: ", QUIET), mark(value, old.get(label, ""), narration.elements)
            )
            for label, value in pairs
        )
    )


def mark(cell: str, was: str, elements: bool = False) -> Text:
    """A cell, with colour and mark where it changed: at the elements, if it has several."""
    if cell == was:
        return Text(cell)
    now, before = cell.split(" "), was.split(" ")
    if not elements or len(now) == 1 or len(now) != len(before) or cell.startswith("{"):
        return Text(cell + MARK, style=CHANGED)
    return Text(" ").join(
        Text(value + MARK, style=CHANGED) if value != old else Text(value)
        for value, old in zip(now, before, strict=True)
    )
