"""Symbols of a Python file, from its syntax tree. The file is parsed, never run.

The text of a symbol is spelled here and not by `ast.dump`, whose text differs from one version of
Python to the next: a lock file must mean the same to all of them.
"""

from __future__ import annotations

import ast
import warnings

from waterline.checker.ties.symbol import Kind, Symbol, Symbols, Unreadable, add

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
