"""Table of a state's fields, with bits of each."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.problem.words import Words
from waterline.model.core.layout import WORD_BITS, Field, Place
from waterline.model.core.transition_system import Model


def layout_table(model: Model, words: Words) -> RenderableType:
    """A line a field: its range, how many elements, the bits they take, the word they lie in."""
    layout = model.layout
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Field", no_wrap=True)
    table.add_column("Range", no_wrap=True)
    table.add_column("Elements", justify="right", no_wrap=True)
    table.add_column("Bits", justify="right", no_wrap=True)
    table.add_column("Word", no_wrap=True)
    table.add_column("Meaning")
    for field in layout.fields:
        table.add_row(
            field.name,
            f"{field.lo}..{field.hi}",
            " x ".join(str(extent) for extent in field.shape) or "1",
            str(_bits(field)),
            _word(layout.places[field.name]),
            field.doc + _sharing(field),
        )
    title = Text.assemble(
        (f"{layout.bits} bits in {layout.words} words of {WORD_BITS}", "bold"),
        f" for {words.sizes(model)}",
    )
    return Group(title, table)


def _bits(field: Field) -> int:
    return field.row_bits * (field.shape[0] if field.shape else 1)


def _word(place: Place) -> str:
    return str(place.word) if place.word >= 0 else "several"


def _sharing(field: Field) -> str:
    """Fields of different roles lie in the same bits, so their sum is more than the total."""
    return "" if field.alive is None else " Shares its bits with what other roles remember."
