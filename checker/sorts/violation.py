"""Violations of the sort check: where a rule uses a value otherwise than its sort allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.problem.errors import Refused
from waterline.checker.sorts.values import Sorted, Value
from waterline.model.core.sorts import DataSort


class IllSorted(Refused):
    """A rule or claim uses a value of a data sort as something else; says where, and the remedy."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place: the line of a file, the function there, the rule that reached it, and why.

    `function` is "" for generated code, which is made of a part of the file.
    """

    file: str
    line: int
    function: str
    root: str
    text: str
    what: str
    instead: str

    def __str__(self) -> str:
        within = f"{self.function}, of " if self.function else ""
        place = f"{self.file}:{self.line}: {within}{self.root}"
        return f"{place}: `{self.text}` {self.what}; {self.instead}"


def remedy(values: Sequence[Value]) -> str:
    """Return what to write instead, by the first sort among these values."""
    for value in values:
        if isinstance(value, Sorted):
            return _remedy(value.held.sort)
    return "use one or the other in a variable"


def _remedy(sort: DataSort) -> str:
    relations = "==, !=, <, <=, min and max" if sort.ordered else "== and !="
    none = f", and with {sort.none_word}" if sort.none_word else ""
    fresh = f"{sort.fresh}, " if sort.fresh else ""
    return (
        f"without bounds {sort.name}s have no fixed numbers: compare them with each other by "
        f"{relations}{none}, copy them, {fresh}or leave out --unbounded"
    )
