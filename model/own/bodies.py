"""Bodies of rules: their statements without remarks, and what is put before them."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator, Mapping

from waterline.model.own.asking import at
from waterline.model.own.fields import AnyField, Choice, Number, Set, Value
from waterline.model.own.mistakes import is_true
from waterline.model.own.syntax import SET, Kind


class _Silent(ast.NodeTransformer):
    """`return True` of an action is `return`; a warning says so."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Drop a returned True, which no caller reads."""
        return ast.copy_location(ast.Return(), node) if is_true(node.value) else node


def silent(statement: ast.stmt) -> ast.stmt:
    """Return an action's statement without the values that it returns."""
    made: ast.stmt = _Silent().visit(copy.deepcopy(statement))
    return made


def returns_nothing(node: ast.Return) -> bool:
    """`return`, and `return None`."""
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def counted_from(tree: ast.FunctionDef, over: Mapping[str, AnyField]) -> Iterator[ast.stmt]:
    """Arguments are counted from 0: those of a range that begins elsewhere are moved there."""
    for name, each in over.items():
        if isinstance(each, Number) and each.lo != 0:
            moved = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(each.lo))
            yield at(moved, tree)


def passed_kind(kind: Kind) -> Kind:
    """Return what a called function has to know of an argument: whether it is a set, or a word."""
    if isinstance(kind, Set):
        return Set("members", kind.of)
    if isinstance(kind, Choice):
        return Choice("word", *kind.values)
    return kind if kind == SET or isinstance(kind, Value) else None


def without_docstring(tree: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function."""
    return tree.body[1:] if ast.get_docstring(tree) is not None else list(tree.body)


def first_paragraph(docstring: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(docstring).strip().split("\n\n")[0].split())
