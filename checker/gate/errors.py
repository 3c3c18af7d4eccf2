"""What is wrong with a gate file, told with its place and the nearest word that would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from checker.errors import Refused
from checker.gate.positions import Place
from checker.problems.wording import printable

_ALIKE = 0.6
"""How alike two words are, of 1, where one may be meant by the other."""


class BadGate(Refused, ValueError):
    """The gate file cannot be used; the message names file, line, column, entry and remedy."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean replicas?`, or all that is known where nothing is near."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=_ALIKE)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known: {', '.join(map(printable, known))}" if known else ""
