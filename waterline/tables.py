"""Tables in HTML, for notebooks. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_LEFT = "text-align: left"
_MARKED = f"{_LEFT}; font-weight: bold; background: rgba(255, 190, 0, 0.3)"
"""A notebook may be dark or light; what is marked is bold in both."""


def cell(text: str, *, is_marked: bool = False) -> str:
    """A cell, perhaps with a mark."""
    return f'<td style="{_MARKED if is_marked else _LEFT}">{escape(text)}</td>'


def line(text: str, *, is_title: bool = False) -> str:
    """Return a line of text between tables."""
    inner = escape(text)
    return f"<p>{f'<b>{inner}</b>' if is_title else inner}</p>"


def table(titles: Sequence[str], body: Iterable[Iterable[str]]) -> str:
    """A table of rows of cells, below a header if there are titles."""
    head = "".join(f'<th style="{_LEFT}">{escape(title)}</th>' for title in titles)
    header = f"<thead><tr>{head}</tr></thead>" if titles else ""
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in body)
    return f"<table>{header}<tbody>{lines}</tbody></table>"
