"""Source positions of keys and values in a TOML file.

Python's reader gives values without their places. It has read the text before, so this one meets
valid TOML alone: it only has to distinguish strings, brackets and comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and numbers in arrays, from 0."""

_DEPTH_MAX = 16
"""Deeper than any key of a gate: of a key with more parts the rest has no place of its own."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t\r]*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[^\n]*")
_PLAIN_VALUE = re.compile(r"[^,\]}\n#]*")
_STRINGS = {
    '"""': re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    "'''": re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]|\\.)*"'),
    "'": re.compile(r"'[^']*'"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column, both from 1, of a file."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Spot:
    """Offsets in the text: where a key begins, and from where to where its value goes.

    Of a table that has a heading the value is the heading.
    """

    key: int
    start: int
    end: int


def place_at(text: str, offset: int, file: str) -> Place:
    """Line and column of an offset."""
    return Place(file, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def spots_in(text: str) -> Mapping[Path, Spot]:
    """Every key and every element of an array, by the way to it."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[Path, Spot] = {}
        self._tables: dict[Path, int] = {}

    def scan(self) -> dict[Path, Spot]:
        table: Path = ()
        while self._skip(_BLANK_LINES) < len(self._text):
            if self._text[self._at] == "[":
                table = self._heading()
            else:
                self._pair(table)
        return self._found

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return self._at

    def _heading(self) -> Path:
        begin = self._at
        of_array = self._text.startswith("[[", begin)
        self._at += 2 if of_array else 1
        path: Path = ()
        for name in self._names():
            path = (*path, name)
            # A table within an array is within its last element.
            if path in self._tables:
                path = (*path, self._tables[path])
        if of_array:
            if path and isinstance(path[-1], int):
                path = path[:-1]
            self._tables[path] = number = self._tables.get(path, -1) + 1
            path = (*path, number)
        end = self._text.index("]", self._at) + (2 if of_array else 1)
        self._found.setdefault(path, Spot(begin, begin, end))
        self._skip(_REST_OF_LINE)
        return path

    def _names(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip(_BLANK)
            if self._text[self._at] in "\"'":
                begin = self._at
                self._string()
                name = _unquote(self._text[begin : self._at])
            else:
                begin = self._at
                self._skip(_BARE_KEY)
                name = self._text[begin : self._at]
            if len(names) < _DEPTH_MAX:
                names.append(name)
            self._skip(_BLANK)
            if self._text[self._at] != ".":
                return names
            self._at += 1

    def _pair(self, table: Path) -> None:
        begin = self._skip(_BLANK)
        path = (*table, *self._names())
        self._at += 1  # The sign of equality.
        self._skip(_BLANK)
        start = self._at
        self._value(path)
        for length in range(len(table) + 1, len(path) + 1):
            self._found.setdefault(path[:length], Spot(begin, start, self._at))

    def _value(self, path: Path) -> None:
        match self._text[self._at]:
            case '"' | "'":
                self._string()
            case "[":
                self._array(path)
            case "{":
                self._table(path)
            case _:
                begin = self._at
                self._skip(_PLAIN_VALUE)
                self._at = begin + len(self._text[begin : self._at].rstrip())

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        while self._text[self._skip(_BLANK_LINES)] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            start = self._at
            self._value((*path, number))
            self._found[*path, number] = Spot(start, start, self._at)
            number += 1
        self._at += 1

    def _table(self, path: Path) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK_LINES)] != "}":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._pair(path)
        self._at += 1

    def _string(self) -> None:
        for quote, pattern in _STRINGS.items():
            if self._text.startswith(quote, self._at):
                self._skip(pattern)
                return


def _unquote(key: str) -> str:
    if key.startswith("'"):
        return key[1:-1]
    try:
        return str(json.loads(key))
    except ValueError:  # TOML has a few escapes more: \e, \U0001F600.
        return key[1:-1]
