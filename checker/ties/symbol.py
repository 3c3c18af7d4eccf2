"""A symbol of a source file: a class, a function, or a method, with a digest of its text.

The text is what a reader of the language reads: comments, blank lines, docstrings and the place in
the file do not belong to it, nor does the code that a symbol calls.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Kind(enum.Enum):
    """Kind of a symbol. A method is a function that stands directly in a class."""

    CLASS = "class"
    METHOD = "method"
    FUNCTION = "function"


class Unreadable(Exception):
    """A source file cannot be read or parsed; the message names file, line and cause."""


@dataclass(slots=True)
class Symbol:
    """A symbol, from all places of its file that declare the name: overloads, setters, `impl`s.

    `line` is the first of them. `is_internal`: private, a constructor, or otherwise not a request
    that others make. `spell` returns the text that counts of a declaration.
    """

    kind: Kind
    line: int
    is_internal: bool
    spell: Callable[[Any], str]
    declarations: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text that counts. Raises `Unreadable`."""
        try:
            return "\n".join(map(self.spell, self.declarations))
        except (RecursionError, ValueError) as problem:  # Python spells no number of 5,000 digits.
            deep = isinstance(problem, RecursionError)
            described = "it is nested too deeply" if deep else str(problem)
            raise Unreadable(f"the symbol at line {self.line}: {described}") from None

    @property
    def digest(self) -> str:
        """A name for that text. Raises `Unreadable`."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


Symbols = dict[str, Symbol]
"""By the names on the way to it: `LeaseServer.acquire`, `Outer.Inner.method`."""


def add(found: Symbols, names: tuple[str, ...], symbol: Symbol, declaration: Any) -> None:
    """Take in a declaration, one of several of its name."""
    found.setdefault(".".join(names), symbol).declarations.append(declaration)
