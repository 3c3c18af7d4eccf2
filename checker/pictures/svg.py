"""A sequence diagram as one SVG: light or dark as whoever looks at it likes, nothing to fetch."""

from __future__ import annotations

from checker.pictures.drawing import drawn
from checker.pictures.sequence import Sequence
from checker.pictures.templating import ours, templates, without_blank_lines


def to_svg(sequence: Sequence) -> str:
    """The file."""
    template = templates().get_template("diagram.svg.j2")
    text = template.render(drawing=drawn(sequence), css=ours("diagram.css"))
    return without_blank_lines(text) + "\n"
