"""SVG of a table, without external resources."""

from __future__ import annotations

import io
import re

from rich.console import Console, RenderableType
from rich.terminal_theme import MONOKAI

COLUMNS = 160
"""Maximum width of a picture that is still legible in a document."""
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Rich names fonts on another host; every viewer has a monospaced one."""


def to_svg(table: RenderableType) -> str:
    """The table as it looks on a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(table)
    drawn = console.export_svg(title="waterline matrix", theme=MONOKAI, unique_id="waterline")
    return _FONTS.sub("", drawn).replace(
        "<!-- Generated with Rich https://www.textualize.io -->", ""
    )
