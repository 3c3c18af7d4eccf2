"""A setting with its origin, and mistakes in what was read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from waterline.checker.problem.errors import Refused


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line and column of a file, both from 1; `file` as it was named."""

    file: str
    line: int
    column: int = 1


def whole_number(text: str | None) -> int | None:
    """A number of at most nine digits after its zeros; None for any other text."""
    matched = re.fullmatch(r"\+?0*([0-9]{1,9})", text or "")
    return int(matched[1]) if matched else None


class BadConfig(Refused, ValueError):
    """Unusable configuration. Each of `mistakes` is a line with place, value and remedy."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each mistake."""
        return self.mistakes


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its value, and its source: a file, an option, a broker, or a default.

    `source` is a name in words. `place` is the place in a file, if there is one.
    """

    key: str
    value: str
    source: str
    place: Place | None = None

    @property
    def origin(self) -> str:
        """`server.properties:12`, `--acks`, `default`"""
        return f"{self.source}:{self.place.line}" if self.place else self.source

    def mistake(self, remedy: str) -> str:
        """Return a line that rejects the value."""
        return f"{self.origin}: {self.key} is {self.value!r}; {remedy}"

    def refusal(self, remedy: str) -> BadConfig:
        """Return an error that rejects the value."""
        return BadConfig(self.mistake(remedy))


class Mistakes:
    """Mistakes of one reading, collected so that all are reported at once."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, line: str) -> None:
        """Note a mistake; of two about one key in one place the first is noted."""
        self._lines.setdefault(line.split(" is ", 1)[0], line)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def extend(self, problem: BadConfig) -> None:
        """Note all that an error names."""
        for line in problem.mistakes:
            self.add(line)

    def all(self) -> Iterable[str]:
        """Lines in the order of their discovery."""
        return tuple(self._lines.values())

    def require_none(self) -> None:
        """Raise `BadConfig` with all of them, if there is any."""
        if self._lines:
            raise BadConfig(*self._lines.values())
