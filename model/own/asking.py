"""Statements of a function: guards and limits that `when` and `within` make of them, and bodies.

Where a step adds to a queue or a log, its limit is the step itself, tried out: it returns the
number of what it goes beyond, a full queue say, or 0.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from waterline.model.own.fields import AnyField, Choice, Number, PlacedField, Set, Value
from waterline.model.own.lowering import changed_by
from waterline.model.own.mistakes import is_true
from waterline.model.own.syntax import SET, Kind, Refuse, at, element_of

_ASKS = {"when", "within"}


@dataclass(frozen=True, slots=True)
class Asking:
    """Reads the statements of an action up to its last `when` or `within`; `refuse` makes errors.

    `bounds` are the names of the bounds, in the order of the limits that they are.
    """

    fields: Mapping[str, AnyField]
    bounds: Sequence[str]
    refuse: Refuse

    def require_asks_at_the_top(self, tree: ast.FunctionDef, statement: ast.stmt) -> None:
        """Refuse a `when` within another statement, or without its one condition."""
        kind = question_of(statement)
        calls = [
            node
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and name_asked(node) is not None
        ]
        if len(calls) > (kind is not None):
            raise self.refuse(
                calls[-1],
                f"{tree.name} has a `{name_asked(calls[-1])}` within another statement",
                "put it at the top level of the action, on a line of its own",
            )
        if kind is not None:
            (call,) = calls
            if len(call.args) != 1 or call.keywords:
                both = " and ".join(map(ast.unparse, call.args)) or "..."
                raise self.refuse(call, f"`{kind}` takes one condition", f"write {kind}({both})")

    def require_looks_only(self, tree: ast.FunctionDef, statement: ast.stmt) -> None:
        """Refuse what changes the state before the last `when`."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                written = node.attr
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                written = ast.unparse(node.value).rpartition(".")[2]
            elif (held := changed_by(node, self.fields)) is not None:
                written = held.name
            elif isinstance(node, ast.Return):
                raise self.refuse(
                    node, f"{tree.name} returns before its last `when`", "make it a condition"
                )
            else:
                continue
            raise self.refuse(
                node,
                f"the guard of {tree.name} writes {written}: it stands before a `when`",
                "ask first, then write",
            )

    def guard(self, tree: ast.FunctionDef, looking: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the guard's statements: `when(x)` ends them with False unless x."""
        body = [
            _unless(statement, ast.Constant(False))
            if question_of(statement) == "when"
            else statement
            for statement in looking
            if question_of(statement) != "within"
        ]
        end = looking[-1] if looking else tree
        return [*body, at(ast.Return(ast.Constant(True)), end)]

    def limit(self, tree: ast.FunctionDef, looking: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the limit's statements: `within(x)` ends them with a bound's number unless x."""
        body = []
        for statement in looking:
            kind = question_of(statement)
            if kind is None:
                body.append(statement)
            elif kind == "when":
                body.append(_unless(statement, ast.Constant(0)))
            else:
                number = 1 + self.bounds.index(self._bound_of(tree, statement))
                body.append(_unless(statement, ast.Constant(number)))
        end = looking[-1] if looking else tree
        return [*body, at(ast.Return(ast.Constant(0)), end)]

    def _bound_of(self, tree: ast.FunctionDef, statement: ast.stmt) -> str:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr in self.bounds:
                return node.attr
        raise self.refuse(
            statement,
            f"a `within` of {tree.name} names no bound",
            f"compare with one of {', '.join(f's.{bound}' for bound in self.bounds) or 'none'}",
        )


def require_no_question(tree: ast.FunctionDef, refuse: Refuse) -> None:
    """Reject `when` and `within` outside actions, whose own have been taken out before."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (named := name_asked(node)) is not None:
            raise refuse(
                node,
                f"{tree.name} has a `{named}`, and is a claim, or called by another rule",
                "only an action has one: ask with `if`, or call a function of what both do",
            )


def question_of(statement: ast.stmt) -> str | None:
    """`when` or `within`, if the statement is a call of one."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return name_asked(call)
    return None


def name_asked(call: ast.Call) -> str | None:
    """`when` or `within`, also as `waterline.when`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _ASKS:
            return name
    return None


def _unless(statement: ast.stmt, value: ast.Constant) -> ast.stmt:
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    condition = statement.value.args[0]
    negated = at(ast.UnaryOp(ast.Not(), condition), condition)
    return at(ast.If(negated, [at(ast.Return(value), condition)], []), statement)


class _Silent(ast.NodeTransformer):
    """`return True` of an action is `return`; a warning says so."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Drop a returned True, which no caller reads."""
        return ast.copy_location(ast.Return(), node) if is_true(node.value) else node


def silent(statement: ast.stmt) -> ast.stmt:
    """Return an action's statement without the values that it returns."""
    made: ast.stmt = _Silent().visit(copy.deepcopy(statement))
    return made


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
