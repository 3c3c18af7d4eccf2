"""Generated functions and the file and line that they stand for."""

from __future__ import annotations

import ast
import types
from typing import Any, NamedTuple

_TREE, _OPERATION = "made_from", "operation"


class Operation(NamedTuple):
    """The meaning of a generated function: an operation, and the names of what it is about."""

    name: str
    of: tuple[str, ...] = ()


def note_operation(tree: ast.FunctionDef, name: str, *of: str) -> ast.FunctionDef:
    """Note the meaning of a generated function, for those who have a form of their own for it."""
    setattr(tree, _OPERATION, Operation(name, of))
    return tree


def operation_of(tree: ast.FunctionDef) -> Operation | None:
    """Return the operation that a function was generated for; None for any other function."""
    return getattr(tree, _OPERATION, None)


def function_of(
    tree: ast.FunctionDef,
    file: str,
    names: dict[str, Any],
    *,
    runs: ast.FunctionDef | None = None,
) -> Any:
    """The function that a tree is, as if it stood in a file whose names these are.

    Its lines are those of the tree. With `runs` it runs as that one says, which is the same with
    checks for what its compiled form cannot do.
    """
    module = compile(ast.Module([runs or tree], []), file, "exec", dont_inherit=True)
    code = next(each for each in module.co_consts if isinstance(each, types.CodeType))
    function = types.FunctionType(code, names)
    setattr(function, _TREE, tree)
    return function


def tree_of(function: object) -> ast.FunctionDef | None:
    """The tree that a function was made of; None for one that was not."""
    tree = getattr(function, _TREE, None)
    return tree if isinstance(tree, ast.FunctionDef) else None
