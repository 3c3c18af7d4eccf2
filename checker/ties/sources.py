"""Source files below one folder, each parsed once; symbols are found by `FILE:NAME`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from waterline.checker.ties.grammar_source import GRAMMARS, grammar_symbols
from waterline.checker.ties.python_source import python_symbols
from waterline.checker.ties.symbol import Symbol, Symbols, Unreadable
from waterline.counterexamples.named_file import BadFile, read_named

SUFFIXES = (".py", *GRAMMARS)
FILE_BYTES_MAX = 1 << 22


def symbols_in(file: str, content: bytes) -> Symbols:
    """Return the symbols of a file, by its suffix. Raises `Unreadable`, `Missing`."""
    suffix = Path(file).suffix
    if suffix not in SUFFIXES:
        raise Unreadable(f"{file}:1: no source that is read: those are {', '.join(SUFFIXES)}")
    try:
        if suffix == ".py":
            return python_symbols(file, content)
        return grammar_symbols(file, content, suffix)
    except RecursionError:
        raise Unreadable(f"{file}:1: it is nested too deeply") from None


@dataclass(slots=True)
class Sources:
    """The files below `folder`. A file elsewhere is not read, whatever links lead to it."""

    folder: Path
    _read: dict[str, Symbols | Unreadable] = field(default_factory=dict)

    def path(self, file: str) -> str:
        """The path of a file as it is shown."""
        return os.path.normpath(self.folder / file)

    def symbols(self, file: str) -> Symbols:
        """Return the symbols of a file. Raises `Unreadable`, `Missing`."""
        if file not in self._read:
            try:
                self._read[file] = symbols_in(self.path(file), self._content(file))
            except Unreadable as problem:
                self._read[file] = problem
        found = self._read[file]
        if isinstance(found, Unreadable):
            raise found
        return found

    def _content(self, file: str) -> bytes:
        path = self.folder / file
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise Unreadable(
                f"{self.path(file)}:1: it is outside of {self.folder}; name a folder that has it, "
                "as Sources: DIR in the model's docstring"
            )
        try:
            return read_named(path, bytes_max=FILE_BYTES_MAX)
        except BadFile as problem:
            raise Unreadable(str(problem)) from None

    def is_readable(self, file: str) -> bool:
        """True if the file can be read and parsed."""
        try:
            self.symbols(file)
        except Unreadable:
            return False
        return True

    def find(self, symbol: str) -> Symbol | None:
        """The symbol of `FILE:NAME`, None if its file has none. Raises `Unreadable`."""
        file, _, name = symbol.rpartition(":")
        return self.symbols(file).get(name)
