"""From Python's syntax tree to the representation that is compiled: see `checker.compiler.ir`.

This module alone decides which Python a rule may contain. The rest becomes `Refused`: a part that a
version switches off is never reached, and may be any Python.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.compiler import ir
from waterline.checker.compiler.source import Source

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNARY: dict[type[ast.unaryop], str] = {
    ast.Not: "not",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}
_WORDS: dict[type[ast.expr], str] = {
    ast.ListComp: "a list",
    ast.SetComp: "a set",
    ast.DictComp: "a dictionary",
    ast.GeneratorExp: "a generator",
    ast.Lambda: "a lambda",
    ast.List: "a list",
    ast.Set: "a set",
    ast.Dict: "a dictionary",
    ast.JoinedStr: "text",
    ast.Constant: "a constant that is no whole number",
}
NO_RANGE = "a loop over something else than a range", "write `for i in range(...)`"


@functools.cache
def lower_function(source: Source) -> ir.Function:
    """The representation of a function, which is made once."""
    tree = source.tree
    spare = [*tree.args.posonlyargs, *tree.args.kwonlyargs]
    if spare or tree.args.vararg or tree.args.kwarg or tree.decorator_list:
        what = "it has a decorator, or parameters with *, ** or /"
        body: ir.Block = (ir.Refused(tree, what, "use plain parameters"),)
    else:
        body = _Lowering(source.variables).block(tree.body)
    return ir.Function(tree, tuple(source.parameters), body)


@dataclass(frozen=True, slots=True)
class _Lowering:
    """Lowers one function, whose variables these are."""

    variables: frozenset[str]

    def block(self, statements: Sequence[ast.stmt]) -> ir.Block:
        """Statements in order, but for docstrings."""
        return tuple(
            self._statement(node)
            for node in statements
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        )

    def _statement(self, node: ast.stmt) -> ir.Statement:  # noqa: PLR0911 - one for each kind
        match node:
            case ast.Return(value=value):
                return ir.Return(node, None if value is None else self._expression(value))
            case ast.Assign(targets=targets, value=value):
                return ir.Assign(node, tuple(map(self._target, targets)), self._expression(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return ir.Assign(node, (self._target(target),), self._expression(value))
            case ast.AugAssign():
                return self._update(node)
            case ast.If(test=test, body=body, orelse=orelse):
                return ir.If(node, self._expression(test), self.block(body), self.block(orelse))
            case ast.While(orelse=[_, *_]) | ast.For(orelse=[_, *_]):
                return ir.Refused(node, "`else` after a loop", "use a variable")
            case ast.While(test=test, body=body):
                return ir.While(node, self._expression(test), self.block(body))
            case ast.For():
                return self._for(node)
            case ast.Break():
                return ir.Break(node)
            case ast.Continue():
                return ir.Continue(node)
            case ast.Pass():
                return ir.Pass(node)
            case ast.Expr(value=ast.Call() as call):
                return ir.Evaluate(node, self._expression(call))
        return ir.Refused(
            node,
            f"there is no compiled form of `{ast.unparse(node).splitlines()[0]}`",
            "use assignments, if, while, for over a range, break, continue, return, calls",
        )

    def _target(self, node: ast.expr) -> ir.Expression:
        match node:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._expression(node)
            case ast.Tuple(elts=targets):
                return ir.Tuple(node, tuple(map(self._target, targets)))
        return ir.Refused(
            node, f"`{ast.unparse(node)}` is assigned to", "assign to names and fields"
        )

    def _update(self, node: ast.AugAssign) -> ir.Statement:
        target, value = self._expression(node.target), self._expression(node.value)
        if type(node.op) in _OPERATORS:
            return ir.Update(node, target, _OPERATORS[type(node.op)], value)
        return ir.Update(node, target, "+", _no_operator(node, node.op, value))

    def _for(self, node: ast.For) -> ir.Statement:
        if not isinstance(node.target, ast.Name):
            return ir.Refused(node, "a loop over several names", "loop over one number")
        match node.iter:
            case ast.Call(func=called, args=[_, *_] as given, keywords=[]):
                counter = ir.Name(node.target, node.target.id, is_variable=True)
                function, *bounds = map(self._expression, (called, *given))
                return ir.For(node, counter, function, tuple(bounds), self.block(node.body))
        return ir.Refused(node, *NO_RANGE)

    # --- expressions -----------------------------------------------------------------------------

    def _expression(self, node: ast.expr) -> ir.Expression:  # noqa: PLR0911, PLR0912 - as above
        match node:
            case ast.Name(id=name):
                return ir.Name(node, name, name in self.variables)
            case ast.Attribute(value=owner, attr=name):
                return ir.Attribute(node, self._expression(owner), name)
            case ast.Subscript(value=owner, slice=index):
                return ir.Element(node, self._expression(owner), self._expression(index))
            case ast.Constant(value=bool() | int() as number):
                return ir.Constant(node, number)
            case ast.Call(func=ast.Attribute(value=owner, attr="bit_count"), args=[], keywords=[]):
                return ir.Unary(node, "bit_count", self._expression(owner))
            case ast.Call(func=called, args=given, keywords=keywords):
                named = tuple((each.arg, self._expression(each.value)) for each in keywords)
                return ir.Call(node, self._expression(called), self._all(given), named)
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self._expression(left), self._expression(right)
                if type(op) in _OPERATORS:
                    return ir.Operation(node, _OPERATORS[type(op)], one, other)
                return _no_operator(node, op, one, other)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return ir.Constant(node, -number)  # the least has no opposite
            case ast.UnaryOp(op=op, operand=operand):
                return ir.Unary(node, _UNARY[type(op)], self._expression(operand))
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=op, values=operands):
                return (ir.Both if isinstance(op, ast.And) else ir.Either)(
                    node, self._all(operands)
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ir.Choice(node, *self._all((test, body, orelse)))
            case ast.Tuple(elts=items):
                return ir.Tuple(node, self._all(items))
        what = _WORDS.get(type(node), f"`{ast.unparse(node)}`")
        instead = "use whole numbers, conditions and functions of the module"
        if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.Lambda):
            instead = "write a loop, or a function of its own"
        return ir.Refused(node, f"{what} has no compiled form", instead)

    def _all(self, nodes: Sequence[ast.expr]) -> tuple[ir.Expression, ...]:
        return tuple(map(self._expression, nodes))

    def _compare(self, node: ast.Compare) -> ir.Expression:
        left = self._expression(node.left)
        match node.ops, node.comparators:
            case [ast.In() | ast.NotIn() as op], [among]:
                return ir.Contained(node, left, self._among(among), isinstance(op, ast.NotIn))
            case [op], [right]:
                if type(op) in _COMPARISONS:
                    return ir.Comparison(
                        node, left, _COMPARISONS[type(op)], self._expression(right)
                    )
                return _no_comparison(node, op, left)
        links = zip(node.ops, node.comparators, strict=True)
        operands = [left, *(self._link(node, op, operand) for op, operand in links)]
        operators = [_COMPARISONS.get(type(op), "==") for op in node.ops]
        return ir.Chain(node, tuple(operands), tuple(operators))

    def _among(self, node: ast.expr) -> ir.Expression:
        if isinstance(node, ast.List | ast.Set):
            return ir.Tuple(node, self._all(node.elts))
        return self._expression(node)

    def _link(self, node: ast.Compare, op: ast.cmpop, operand: ast.expr) -> ir.Expression:
        if isinstance(op, ast.In | ast.NotIn):
            return ir.Refused(node, "`in` within a chain", "write two comparisons")
        right = self._expression(operand)
        return right if type(op) in _COMPARISONS else _no_comparison(node, op, right)


def _no_operator(node: ast.expr | ast.stmt, op: ast.operator, *after: ir.Expression) -> ir.Refused:
    what = f"there is no compiled {type(op).__name__}"
    return ir.Refused(node, what, "use + - * // % << >> & | ^", after)


def _no_comparison(node: ast.Compare, op: ast.cmpop, after: ir.Expression) -> ir.Refused:
    what = f"there is no compiled `{type(op).__name__}`"
    return ir.Refused(node, what, "compare with == or !=", (after,))
