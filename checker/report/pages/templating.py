"""Jinja templates, with everything from outside escaped.

Only our own styles and scripts are inserted unescaped.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from waterline.checker.problem.wording import printable

PACKAGE = "waterline.checker.report.pages"


def visible(value: object) -> object:
    """Spell out the control characters of a text: XML has none, and a reader should see none."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(printable, value.split("\n")))


def prose(text: str) -> str:
    """A sentence whose arrows no browser breaks in two."""
    return text.replace("->", "→")


def without_blank_lines(text: str) -> str:
    """Remove the blank lines that template tags leave."""
    return "\n".join(line for line in text.splitlines() if line.strip())


@cache
def templates() -> Environment:
    """The templates of this package."""
    environment = Environment(
        loader=PackageLoader(PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    return environment


@cache
def ours(name: str) -> Markup:
    """A style or script of this package, as it is but for blank lines."""
    environment = templates()
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return Markup(without_blank_lines(source))
