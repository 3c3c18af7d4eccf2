"""Templates and what they are filled with: everything that comes from elsewhere is escaped.

What a template may take as it is are the styles and scripts beside it, which are ours.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def printable(value: object) -> object:
    """A text with its control characters spelled out: XML has none, and nobody should see one."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(
        char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in value
    )


@cache
def templates() -> Environment:
    """The templates of this package."""
    return Environment(
        loader=PackageLoader("checker.pictures", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def ours(name: str) -> Markup:
    """A style or script of this package, as it is."""
    environment = templates()
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return Markup(source)
