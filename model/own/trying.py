"""Trial of a step, which finds the limit that it goes beyond: a full queue, a full log.

A function that tries is the function itself, but it returns the number of a limit, or 0.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from waterline.model.own.fields import AnyField, PlacedField
from waterline.model.own.syntax import Refuse, at, element_of

TRY, _BEYOND = "__try_", "__beyond__"
"""Prefix of a function that tries out what another one does, and the variable for the limit
exceeded."""


def sends(
    tree: ast.FunctionDef,
    trees: Mapping[str, ast.FunctionDef],
    fields: Mapping[str, AnyField],
    known: frozenset[str] = frozenset(),
) -> bool:
    """True if a function, or one that it calls, adds to a queue or a log."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                held = element_of(owner, fields)
                if isinstance(held, PlacedField) and method == held.adds:
                    return True
            case ast.Call(func=ast.Name(id=name)) if name in trees and name not in known:
                if sends(trees[name], trees, fields, known | {name, tree.name}):
                    return True
    return False


@dataclass(slots=True)
class Trying(ast.NodeTransformer):
    """Calls what tries a step out in the place of what takes it: `sends` are such functions."""

    sends: Collection[str]
    refuse: Refuse

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """`answer(s, a, b)`: where that goes beyond a limit, so does this."""
        match node.value:
            case ast.Call(func=ast.Name(id=name) as function) if name in self.sends:
                node.value.args = [self.visit(each) for each in node.value.args]
                function.id = f"{TRY}{name}"
                beyond = ast.Name(_BEYOND, ast.Load())
                returns = ast.If(beyond, [ast.Return(beyond)], [])
                kept = ast.Assign([ast.Name(_BEYOND, ast.Store())], node.value)
                return [at(kept, node), at(returns, node)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Reject a call whose value is read, of a function that adds to a queue or a log."""
        match node.func:
            case ast.Name(id=name) if name in self.sends:
                raise self.refuse(
                    node,
                    f"{name} adds to a queue or a log, and its value is read",
                    "call it on a line of its own",
                )
        return self.generic_visit(node)


def trial(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements of a step that is tried out: where it returns, it went beyond no limit."""
    return [_Returning().visit(copy.deepcopy(statement)) for statement in body]


class _Returning(ast.NodeTransformer):
    def visit_Return(self, node: ast.Return) -> ast.AST:
        """`return`"""
        return ast.copy_location(ast.Return(ast.Constant(0)), node)
