"""Errors in a gate file, with file, line and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable

from waterline.checker.ci.positions import Place
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.wording import printable
from waterline.model.core import nearest


class BadGate(Refused, ValueError):
    """The gate file cannot be used; the message names file, line, column, entry and remedy."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean replicas?`, or all that is known where nothing is near, to be printed."""
    return printable(nearest.did_you_mean(word, known))
