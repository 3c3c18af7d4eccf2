"""Source files below one folder, each parsed once; symbols are found by `FILE:NAME`.

A Python file's are in its syntax tree. No file is ever run.
"""

from __future__ import annotations

import ast
import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from waterline.checker.ties.grammar_source import GRAMMARS, grammar_symbols
from waterline.checker.ties.symbol import Kind, Symbol, Symbols, Unreadable, add
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


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DECLARING = (*_FUNCTIONS, ast.ClassDef)
_NO_MEANING = {"ctx", "kind", "type_comment"}


def python_symbols(file: str, content: bytes) -> Symbols:
    """Return the symbols of a file. Raises `Unreadable`."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(content, file)
        found: Symbols = {}
        _collect(tree, (), found, in_class=False)
    except SyntaxError as problem:
        raise Unreadable(f"{file}:{problem.lineno or 1}: no Python: {problem.msg}") from None
    except (ValueError, RecursionError, MemoryError) as problem:
        described = str(problem) or "nested too deeply"
        raise Unreadable(f"{file}:1: no Python that can be read: {described}") from None
    return found


def _collect(node: ast.AST, names: tuple[str, ...], found: Symbols, *, in_class: bool) -> None:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DECLARING):
            _collect(child, names, found, in_class=in_class)
            continue
        inner = (*names, child.name)
        is_class = isinstance(child, ast.ClassDef)
        kind = Kind.CLASS if is_class else Kind.METHOD if in_class else Kind.FUNCTION
        symbol = Symbol(kind, child.lineno, child.name.startswith("_"), _spell)
        add(found, inner, symbol, child)
        _collect(child, inner, found, in_class=is_class)


def _spell(value: object) -> str:
    """Spell a part of a tree, with neither places nor what is absent."""
    if isinstance(value, list):
        return f"[{' '.join(map(_spell, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = {name: part for name, part in ast.iter_fields(value) if name not in _NO_MEANING}
    if isinstance(value, _DECLARING) and ast.get_docstring(value, clean=False) is not None:
        fields["body"] = value.body[1:] or [ast.Pass()]
    if isinstance(value, ast.JoinedStr):
        # Python 3.12 ends some with an empty text.
        fields["values"] = [each for each in value.values if not _is_empty(each)]
    parts = [f"{name}={_spell(part)}" for name, part in fields.items() if part not in (None, [])]
    # A constant None has a value, which is None.
    if isinstance(value, ast.Constant) and value.value is None:
        parts = ["value=None"]
    return f"{type(value).__name__}({' '.join(parts)})"


def _is_empty(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value == ""
