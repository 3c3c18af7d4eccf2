"""A log as a row of cells, with marks for HW and LEO."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rich.text import Text

from waterline.checker.kafka.narrative.cluster import DIFFERENT_MARK, Cell, Lane
from waterline.checker.report.viewer.look import (
    CHANGED,
    CHANGED_MARK,
    DIFFERENT,
    DOOMED,
    DOOMED_MARK,
    GONE,
    GONE_MARK,
    QUIET,
)

EDGE = "│"
GONE_EDGE = "┊"
ARROW = "▲"
_SPARE = 4
"""Columns added to a cell where there is room."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Where an offset is drawn: the same column for every broker.

    `first` is the least offset shown, `cells` how many there are, each `width` columns wide with
    its edge; the logs begin at column `left`.
    """

    left: int
    width: int
    first: int
    cells: int

    def column(self, offset: int) -> int:
        """The column of the edge that the cell of this offset begins with."""
        return self.left + (offset - self.first) * self.width

    def shows(self, offset: int) -> bool:
        """True if there is room for it."""
        return self.first <= offset < self.first + self.cells


@dataclass(frozen=True, slots=True)
class Marked:
    """Cells to mark: records that will be lost, offsets where logs differ, and, by offset, cells
    gone from this log.
    """

    doomed: Collection[int]
    different: Collection[int]
    gone: Mapping[int, Cell]


def ruler(longest: int, last: int, widest: int, left: int, width: int) -> Ruler:
    """The ruler for a trace whose logs have up to `longest` records, on lines of `width` columns.

    `last` is the last offset that must be seen, where not all fit; `widest` are the columns of a
    record. Cells are wider where there is much room.
    """
    cell_width = widest + len(EDGE + DOOMED_MARK + CHANGED_MARK)
    end = longest + 1
    if (cell_width + _SPARE) * end + left < width:
        cell_width += _SPARE
    # One column is left for the last edge.
    fit = min(end, max(1, (width - left - 1) // cell_width))
    return Ruler(left, cell_width, min(max(0, last + 2 - fit), end - fit), fit)


def offsets(ruler: Ruler) -> Text:
    """The offsets above the cells."""
    line = Text("offset".ljust(ruler.left), QUIET)
    for offset in range(ruler.first, ruler.first + ruler.cells):
        line.append(f" {offset}".ljust(ruler.width), QUIET)
    if ruler.first:
        line.append(f"(0 to {ruler.first - 1} not shown)", QUIET)
    line.rstrip()
    return line


def log_row(
    ruler: Ruler,
    lane: Lane,
    was: Lane | None,
    marked: Marked,
) -> Text:
    """The cells of a log."""
    old = {cell.offset: cell.record for cell in was.log} if was else None
    line = Text(" " * ruler.left)
    for offset in range(ruler.first, ruler.first + ruler.cells):
        cell = lane.log[offset] if offset < lane.leo else None
        ghost = marked.gone.get(offset)
        if cell is not None:
            _append_cell(line, ruler, cell, marked, old, is_shown=_is_shown(lane, offset))
        elif ghost is not None:
            gone = f"{GONE_MARK}{ghost}"
            is_new = old is not None and old.get(offset) == ghost.record
            line.append(EDGE if offset == lane.leo else GONE_EDGE, QUIET)
            line.append(gone, GONE)
            mark = CHANGED_MARK if is_new else ""
            line.append(mark.ljust(ruler.width - len(EDGE) - len(gone)), CHANGED)
        else:
            line.append((EDGE if offset == lane.leo else " ").ljust(ruler.width), QUIET)
    if lane.leo == ruler.first + ruler.cells:
        line.append(EDGE, QUIET)
    line.rstrip()
    return line


def frame(ruler: Ruler, lane: Lane, *, is_top: bool) -> Text:
    """The line above, or below, the cells of a log."""
    shown = max(0, min(lane.leo - ruler.first, ruler.cells))
    first, middle, last = "┌┬┐" if is_top else "└┴┘"
    line = Text(" " * ruler.left)
    if shown:
        edges = [first, *[middle] * (shown - 1)]
        line.append("".join(edge + "─" * (ruler.width - 1) for edge in edges) + last, QUIET)
    return line


def _is_shown(lane: Lane, offset: int) -> bool:
    """True if a consumer may see it: it is below the broker's HW."""
    return lane.high_watermark is not None and offset < lane.high_watermark


def _append_cell(
    line: Text,
    ruler: Ruler,
    cell: Cell,
    marked: Marked,
    old: Mapping[int, int] | None,
    *,
    is_shown: bool,
) -> None:
    is_changed = old is not None and old.get(cell.offset) != cell.record
    flag, style = " ", CHANGED if is_changed else "" if is_shown else QUIET
    if cell.record in marked.doomed:
        flag, style = DOOMED_MARK, DOOMED
    elif cell.offset in marked.different:
        flag, style = DIFFERENT_MARK, DIFFERENT
    line.append(EDGE, QUIET)
    described = f"{flag}{cell}"
    line.append(described, style)
    mark = CHANGED_MARK if is_changed else ""
    line.append(mark.ljust(ruler.width - len(EDGE) - len(described)), CHANGED)


def marks_row(ruler: Ruler, lane: Lane, was: Lane | None) -> Text:
    """Where HW and LEO are, each at the edge that it stands at."""
    at: dict[int, list[tuple[str, bool]]] = {}
    hw, old_hw = lane.high_watermark, was.high_watermark if was else lane.high_watermark
    if hw is not None:
        at.setdefault(hw, []).append(("HW", hw != old_hw))
    at.setdefault(lane.leo, []).append(("LEO", was is not None and lane.leo != was.leo))
    line = Text()
    for offset, names in sorted(at.items()):
        column = ruler.column(max(offset, ruler.first))
        line.append(" " * max(0, column - line.cell_len))
        beyond = "" if offset >= ruler.first else "<"
        changed = any(is_changed for _, is_changed in names)
        described = "=".join(name for name, _ in names) + (CHANGED_MARK if changed else "")
        line.append(f"{ARROW}{beyond}{described}", CHANGED if changed else QUIET)
    return line
