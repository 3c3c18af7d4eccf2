"""A gate file as values that know where they stand.

A `Table` is read by taking keys out of it, each by its kind; what is left at the end was misspelt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from waterline.checker.ci.positions import Path, Place, Spot, place_at, spots_in
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.wording import printable
from waterline.counterexamples import show
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core import errors


class BadGate(Refused, ValueError):
    """The gate file cannot be used; the message names file, line, column, entry and remedy."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean replicas?`, or all that is known where nothing is near, to be printed."""
    return printable(errors.did_you_mean(word, known))


FILE_BYTES_MAX = 1 << 20
_AT = re.compile(r" \(at line (\d+), column (\d+)\)$")
_PARTS_MAX = 100
_LONG_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*(?:(?:[A-Za-z0-9_-]{1,99}|"[^"\n]{0,99}"|'[^'\n]{0,99}')[ \t]*\.[ \t]*)"""
    f"{{{_PARTS_MAX}}}",
    re.MULTILINE,
)
"""A key of more parts than Python's reader should be given: its work grows with their square."""
_AT_END = re.compile(r" \(at end of document\)$")
_KINDS = {
    "text": str,
    "a whole number": int,
    "true or false": bool,
    "a table": dict,
    "an array": list,
}


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is TOML: its text, its values, and where they stand."""

    file: str
    text: str
    content: Mapping[str, Any]
    spots: Mapping[Path, Spot]

    def place(self, path: Path) -> Place:
        """Where a key stands; where a part of the way has no place of its own, the part before."""
        while path:
            if path in self.spots:
                return place_at(self.text, self.spots[path].key, self.file)
            path = path[:-1]
        return Place(self.file)


def read_document(path: FilePath) -> Document:
    """The values of a file. Raises `BadGate`."""
    try:
        content = read_named(path, bytes_max=FILE_BYTES_MAX)
    except BadFile as problem:
        raise BadGate(Place(str(path)), str(problem)) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = content[: problem.start].decode("utf-8-sig")
        place = place_at(before, len(before), str(path))
        raise BadGate(place, "it is not UTF-8 text, as TOML is") from None
    return parse(text, str(path))


def parse(text: str, file: str) -> Document:
    """The values of a text. Raises `BadGate`."""
    if found := _LONG_KEY.search(text):
        described = f"a key of more than {_PARTS_MAX} parts is nested too deeply for a gate file"
        raise BadGate(place_at(text, found.start(), file), described)
    try:
        return Document(file, text, tomllib.loads(text), spots_in(text))
    except RecursionError:
        raise BadGate(Place(file), "it is nested too deeply for a gate file") from None
    except ValueError as problem:
        # No TOML, or a number of more digits than Python reads.
        described, place = str(problem), Place(file)
        if at := _AT.search(described):
            place = Place(file, int(at[1]), int(at[2]))
        elif _AT_END.search(described):
            place = place_at(text, len(text), file)
        described = _AT_END.sub("", _AT.sub("", described))
        raise BadGate(place, f"it is no TOML: {described}") from None


@dataclass(slots=True)
class Table:
    """A table of a document, or of a test's own values, whose keys are taken out one by one.

    `of` begins every message: the name of an expectation, once it is known.
    """

    document: Document
    path: Path
    left: dict[str, Any]
    of: str = ""
    asked: list[str] = field(default_factory=list)

    def place(self, *keys: str | int) -> Place:
        """Where a key stands."""
        return self.document.place((*self.path, *keys))

    def refuse(self, message: str, *keys: str | int) -> BadGate:
        """The error about a key, or about all of the table."""
        described = f"{self.of}: {message}" if self.of else message
        return BadGate(self.place(*keys), described)

    def take(self, key: str, kind: str) -> Any:
        """The value of a key, None where it is not there. Raises `BadGate` for another kind."""
        self.asked.append(key)
        if key not in self.left:
            return None
        value = self.left.pop(key)
        wanted = _KINDS[kind]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise self.refuse(f"{key} is {show(value)}; it must be {kind}", key)
        return value

    def texts(self, key: str, known: Collection[str] | None = None) -> tuple[str, ...]:
        """The texts of an array, each one of `known`. Raises `BadGate`."""
        values = self.take(key, "an array") or []
        for number, value in enumerate(values):
            if not isinstance(value, str):
                raise self.refuse(f"{key} has {show(value)}; it must be text", key, number)
            if known is not None and value not in known:
                described = f"{key} has {show(value)}{did_you_mean(value, known)}"
                raise self.refuse(described, key, number)
        return tuple(values)

    def table(self, key: str) -> Table | None:
        """The table that a key has, if it is there. Raises `BadGate`."""
        value = self.take(key, "a table")
        if value is None:
            return None
        return Table(self.document, (*self.path, key), dict(value), self.of)

    def require_empty(self, known: Iterable[str] = ()) -> None:
        """See that every key was taken. Raises `BadGate`."""
        for key in self.left:
            described = f"unknown key {show(key)}{did_you_mean(key, [*self.asked, *known])}"
            raise self.refuse(described, key)
