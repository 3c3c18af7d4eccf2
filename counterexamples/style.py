"""Styles and plain tables of everything that is printed."""

from __future__ import annotations

from rich.table import Table

TITLE = "bold"
QUIET = "dim"
GOOD = "bold green"
BAD = "bold red"
WARNING = "bold yellow"


def columns(*, gap: int = 2, header: str | None = None) -> Table:
    """A table without lines; `header` is the style of its header, None for no header."""
    return Table(
        box=None,
        padding=(0, gap, 0, 0),
        pad_edge=False,
        show_header=header is not None,
        header_style=header or "",
    )


def two_columns(*, gap: int = 1, numbers: bool = False) -> Table:
    """A table for rows of two: a word that is not folded, or a number, and a text that is."""
    table = columns(gap=gap)
    table.add_column(no_wrap=True, justify="right" if numbers else "left")
    table.add_column(overflow="fold")
    return table


def label_grid() -> Table:
    """Return a grid for rows of two: a quiet label on the left, and its text."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style=QUIET)
    grid.add_column()
    return grid
