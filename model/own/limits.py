"""Runtime checks of interpreted rules, equal to those of compiled ones.

Operations that can leave 64 bits are looked at, and rounds of loops are counted. The tree that is
compiled stays as it is: the compiler knows ranges, and checks only where it must.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, MutableMapping
from typing import Any

from waterline.model.core import machine_numbers

_CHECKS: dict[str, Callable[..., Any]] = {
    "__fitting__": machine_numbers.fitting,
    "__shifted__": machine_numbers.shift_left,
    "__remainder__": machine_numbers.remainder,
    "__round_after__": machine_numbers.round_after,
    "__short__": machine_numbers.short,
}
_ROUNDS = "__rounds__"
_UNCHECKED = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift)
"""Operators whose result never needs more bits than the operands."""


def add_limits(tree: ast.FunctionDef, names: MutableMapping[str, Any]) -> ast.FunctionDef:
    """The function with its checks, which `names` are given."""
    names.update(_CHECKS)
    made = copy.deepcopy(tree)
    counts = any(isinstance(node, ast.While) for node in ast.walk(made))
    made = _Limits(counts).visit(made)
    if counts:
        made.body.insert(0, ast.copy_location(_set_rounds(ast.Constant(0)), tree))
    return ast.fix_missing_locations(made)


class _Limits(ast.NodeTransformer):
    """Puts the checks in. With `counts` every round of a loop is counted."""

    def __init__(self, counts: bool) -> None:
        self._counts = counts

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a + b`"""
        self.generic_visit(node)
        if isinstance(node.op, _UNCHECKED):
            return node
        return self._operate(node, node.op, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b`; what is stored in a field is in its range, or raises."""
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or isinstance(node.op, _UNCHECKED):
            return node
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        after = self._operate(node, node.op, before, node.value)
        return ast.copy_location(ast.Assign([node.target], after), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """`-a`"""
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)
            return _call("__fitting__", node, node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`abs(a)`"""
        self.generic_visit(node)
        match node.func:
            case ast.Name(id="abs"):
                return _call("__fitting__", node, node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """`while a:`"""
        self.generic_visit(node)
        return self._count(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for a in range(b):`"""
        self.generic_visit(node)
        node.iter = _call("__short__", node.iter, node.iter)
        return self._count(node)

    def _count(self, node: ast.While | ast.For) -> ast.AST:
        if self._counts:
            rounds = ast.Name(_ROUNDS, ast.Load())
            node.body.insert(
                0, ast.copy_location(_set_rounds(_call("__round_after__", node, rounds)), node)
            )
        return node

    @staticmethod
    def _operate(
        node: ast.expr | ast.stmt, operator: ast.operator, left: ast.expr, right: ast.expr
    ) -> ast.expr:
        match operator:
            case ast.LShift():
                return _call("__shifted__", node, left, right)
            case ast.Mod():
                return _call("__remainder__", node, left, right)
        operation = ast.copy_location(ast.BinOp(left, operator, right), node)
        return _call("__fitting__", node, operation)


def _call(name: str, like: ast.AST, *arguments: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), like)


def _set_rounds(value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(_ROUNDS, ast.Store())], value)
