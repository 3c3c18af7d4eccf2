"""What is wrong with a gate file, told with its place and the nearest word that would be right."""

from __future__ import annotations

from collections.abc import Iterable

from checker.errors import Refused
from checker.gate.positions import Place
from checker.problems.wording import printable
from model.kit import nearest


class BadGate(Refused, ValueError):
    """The gate file cannot be used; the message names file, line, column, entry and remedy."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean replicas?`, or all that is known where nothing is near, to be printed."""
    return printable(nearest.did_you_mean(word, known))
