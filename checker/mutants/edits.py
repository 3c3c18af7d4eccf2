"""Edits of a syntax tree: each node that can be replaced, and what can be put in its place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

GUARDS, CONDITIONS, EFFECTS = KINDS = ("guards", "conditions", "effects")
"""Kinds of edits: of a `when` or a part of it; of another condition; of an assignment or a call."""
Change: TypeAlias = tuple[str, ast.AST]
"""The description of an edit, and the node that it puts in place."""
Place: TypeAlias = tuple[Any, ast.AST, Callable[[ast.AST], None]]
"""A node, its parent, and what lets another node, or the same again, hang in its place."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


def places(parent: ast.AST) -> Iterator[Place]:
    """Every node below, parents first."""
    for field, value in ast.iter_fields(parent):
        if isinstance(value, ast.AST):
            yield value, parent, partial(setattr, parent, field)
            yield from places(value)
        for index, node in enumerate(value) if isinstance(value, list) else ():
            if not isinstance(node, ast.AST):
                continue
            yield node, parent, partial(value.__setitem__, index)
            yield from places(node)


def decisions_of(condition: Any) -> Iterator[Change]:
    """A condition negated, and decided once and for all; a comparison is negated as such."""
    if isinstance(condition, ast.BoolOp | ast.Call):
        yield f"negate {short(condition)}", ast.UnaryOp(ast.Not(), condition)
    for answer in (True, False):
        yield f"{short(condition)} -> {answer}", ast.Constant(answer)


def without_operands(node: ast.BoolOp) -> Iterator[Change]:
    """An `and` or `or` with each of its operands left out."""
    word = "and" if isinstance(node.op, ast.And) else "or"
    for left_out in node.values:
        kept = [value for value in node.values if value is not left_out]
        shorter = kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)
        yield f"drop {short(left_out)} of `{word}`", shorter


def other_comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    """The comparison relaxed or made strict, and turned; none of a chain."""
    if len(node.ops) == 1:
        for other in _COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)


def change_of(before: ast.AST, after: ast.AST) -> Change:
    """The change of one node into another."""
    return f"{short(before)} -> {short(after)}", after


def short(node: ast.AST) -> str:
    """The text of a node on one line, of 72 characters at most."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 72 else f"{text[:69]}..."
