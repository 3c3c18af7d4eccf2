"""Errors of a family of models, and the nearest known name for their messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadEnvironment(ValueError):
    """An option has a value that means nothing; the message names it and says what is allowed."""


class BadCondition(BadEnvironment):
    """A condition of one's own means nothing; `pointed` are two lines, the text and a caret."""

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.text = text
        self.column = column
        super().__init__(f"the condition, column {column}: {problem}")

    @property
    def pointed(self) -> str:
        """The text, and below it a caret at the column."""
        return f"{self.text}\n{' ' * (self.column - 1)}^"


class RaisedAtStart(BadEnvironment):
    """A model cannot start: the function that makes its initial states has raised an error."""


_ALIKE = 0.6
"""Minimum similarity of two words, from 0 to 1, for one to be a misspelling of the other."""


def nearest(word: str, known: Iterable[str], *, alike: float = _ALIKE) -> str | None:
    """The name that is most like the word; None where none is alike. Case counts least."""
    names = list(known)
    by_small = {name.lower(): name for name in names}
    if near := difflib.get_close_matches(word, names, 1, alike):
        return near[0]
    near = difflib.get_close_matches(word.lower(), by_small, 1, alike)
    return by_small[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean replicas?`, or all that is known where nothing is near."""
    names = list(known)
    if (near := nearest(word, names)) is not None:
        return f"; did you mean {near}?"
    return f"; known: {', '.join(names)}" if names else ""


def did_you_mean_or(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return `did you mean leo? There are leo, hw`, or `otherwise` alone."""
    near = nearest(word, known)
    return f"did you mean {near}? {otherwise[0].upper()}{otherwise[1:]}" if near else otherwise
