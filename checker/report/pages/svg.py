"""SVG of a sequence diagram, light and dark, without external resources."""

from __future__ import annotations

from waterline.checker.report.pages.drawing import draw
from waterline.checker.report.pages.sequence import Sequence
from waterline.checker.report.pages.templating import ours, templates, without_blank_lines


def to_svg(sequence: Sequence) -> str:
    """The file."""
    template = templates().get_template("diagram.svg.j2")
    text = template.render(drawing=draw(sequence), css=ours("diagram.css"))
    return without_blank_lines(text) + "\n"
