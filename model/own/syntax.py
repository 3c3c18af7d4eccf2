"""Syntax of a rule: the field of an element, the conditions, the assignments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from waterline.model.own.fields import AnyField, SequenceField

_Node = TypeVar("_Node", bound=ast.AST)
Refuse = Callable[[ast.AST | None, str, str], Exception]
NUMBER = "number"
SET = "set"
OF_SET = "__set_of_"
"""Prefix of functions that read a set out of a table: see `model.own.values`."""
Kind = AnyField | str | None
"""The field whose values an expression has, `NUMBER`, `SET` for a set that is written there, or
None if unknown. A set or a sequence has the field itself."""


def element_of(node: ast.expr, fields: Mapping[str, AnyField]) -> AnyField | None:
    """The field whose values an element has: `s.leader`, `s.state[rm]`, `s.wire[a, b][0]`.

    Of a set or a sequence it is the field itself.
    """
    match node:
        case ast.Subscript(value=ast.Attribute() as owner, slice=index):
            found = element_of(owner, fields)
            if isinstance(found, SequenceField) and not found.indices:
                return found if isinstance(index, ast.Slice) else found.element
            return found
        case ast.Subscript(value=ast.Subscript() as owner, slice=index):
            found = element_of(owner, fields)
            if isinstance(found, SequenceField):
                return found if isinstance(index, ast.Slice) else found.element
        case ast.Attribute(value=ast.Name(), attr=attribute):
            return fields.get(attribute)
    return None


def truths(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that are used as truth values."""
    for node in ast.walk(tree):
        match node:
            case ast.If() | ast.While() | ast.IfExp():
                yield node.test
            case ast.UnaryOp(op=ast.Not()):
                yield node.operand
            case ast.BoolOp():
                yield from node.values
            case ast.comprehension():
                yield from node.ifs
            case ast.Call(func=ast.Name(id="bool"), args=[asked]):
                yield asked
            case ast.Call(
                func=ast.Name(id="all" | "any"), args=[ast.GeneratorExp() | ast.ListComp() as each]
            ):
                yield each.elt


def assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The variables that a statement gives a value, and the value if it stands there."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _pairs(target, node.value)
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name, ast.Constant(0)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for each, given in zip(targets, values, strict=True):
                yield from _pairs(each, given)
        case ast.Tuple(elts=targets), ast.Call():
            for each, given in zip(targets, items(value, len(targets)), strict=True):
                yield from _pairs(each, given)
        case ast.Tuple(elts=targets), _:
            yield from ((each.id, None) for each in targets if isinstance(each, ast.Name))


def items(call: ast.expr, count: int) -> list[ast.expr]:
    """The items of the tuple that a call returns, as expressions: `f(s)[0]`, `f(s)[1]`."""
    read = (ast.Subscript(call, ast.Constant(n), ast.Load()) for n in range(count))
    return [ast.copy_location(each, call) for each in read]


def item_of(value: ast.expr, number: int) -> ast.expr:
    """An item of a tuple that is written, or that a call returns."""
    if isinstance(value, ast.Tuple) and number < len(value.elts):
        return value.elts[number]
    return items(value, number + 1)[number]


def gone_through(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables of loops and comprehensions, and what these go through."""
    for node in ast.walk(tree):
        match node:
            case ast.For(target=ast.Name(id=name), iter=over):
                yield name, over
            case ast.comprehension(target=ast.Name(id=name), iter=over):
                yield name, over


def is_made_set(node: ast.expr) -> bool:
    """True if an expression writes a set: `{a, b}`, `set()`, `{n for n in ...}`."""
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set")):
            return True
    return False


def ends(value: ast.expr, *, of_literals: bool = False) -> Iterator[ast.expr]:
    """Yield the possible values of a conditional expression, or the expression itself.

    With `of_literals`, of a tuple, a list or a set that is written there, what is in it.
    """
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts) if of_literals:
            parts = elts
        case _:
            yield value
            return
    for part in parts:
        yield from ends(part, of_literals=of_literals)


def is_plain(node: ast.AST) -> bool:
    """True if an expression calls nothing, so that it may be written twice."""
    return not any(isinstance(each, ast.Call) for each in ast.walk(node))


def is_none(node: ast.expr | None) -> bool:
    """`None`, also where nothing is written."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def variables_of(tree: ast.FunctionDef) -> set[str]:
    """The arguments of a function, and all that it gives a value."""
    return {argument.arg for argument in tree.args.args} | stored_names(tree)


def stored_names(node: ast.AST) -> set[str]:
    """The names that are given a value."""
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def at(node: _Node, like: ast.AST) -> _Node:
    """The node, and all in it that has no line yet, on the line of this."""
    for each in ast.walk(node):
        if isinstance(each, ast.stmt | ast.expr) and not hasattr(each, "lineno"):
            ast.copy_location(each, like)
    return node


def on_line(function: _Node, node: ast.AST) -> _Node:
    """A tree that is written for a place of the file, with the line of that."""
    for each in ast.walk(function):
        if isinstance(each, ast.stmt | ast.expr | ast.arg):
            ast.copy_location(each, node)
    return function
