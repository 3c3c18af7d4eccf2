"""Code generation for comparisons and boolean expressions, with Python's short circuit.

What a comparison tells of a name holds where it is true: `leader != NO_REPLICA and s.role[leader]`
needs no check that the leader is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.compiler.emitter import Join
from checker.compiler.resolution import Known
from checker.compiler.scope import Ranges
from checker.compiler.values import Number, Value, constant

if TYPE_CHECKING:
    from checker.compiler.expressions import Expressions

_COMPARISONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}
_OPPOSITES = {"eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle"}
_SWAPPED = {"eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}


@dataclass(frozen=True, slots=True)
class Conditions:
    """Writes the conditions among the expressions of one function."""

    expressions: Expressions

    def joined(self, node: ast.Compare | ast.BoolOp) -> Number:
        """A comparison, or `and` and `or` with their values: the last one that was looked at."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(
                node, node.ops[0], self.expressions.number(node.left), node.comparators[0]
            )[0]
        join = Join(self.expressions.writer, "known")
        before = self.expressions.scope.snapshot()
        steps = self._chain(node) if isinstance(node, ast.Compare) else self._operands(node)
        stops_at = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
        for number, ranges, is_last in steps:
            if is_last:
                join.arrive(number)
                break
            stop, go_on = self.expressions.writer.name("stop"), self.expressions.writer.name("next")
            truth = self.expressions.writer.truth_of(number)
            self.expressions.writer.branch(truth, *((stop, go_on) if stops_at else (go_on, stop)))
            if self.expressions.writer.begin(stop):
                decided = constant(stops_at) if number.truth else number
                join.arrive(decided)
            if not self.expressions.writer.begin(go_on):
                break
            self.expressions.scope.narrow(ranges)
        self.expressions.scope.restore(before)
        return join.meet()

    def _operands(self, node: ast.BoolOp) -> Iterator[tuple[Number, Ranges, bool]]:
        """Each operand, what goes on with the next tells of names, and whether it is the last."""
        on_truth = isinstance(node.op, ast.And)
        for operand in node.values:
            if isinstance(operand, ast.Compare) and len(operand.ops) == 1:
                left = self.expressions.number(operand.left)
                truth, then, otherwise = self._compared(
                    operand, operand.ops[0], left, operand.comparators[0]
                )
                yield truth, then if on_truth else otherwise, operand is node.values[-1]
            else:
                yield self.expressions.number(operand), {}, operand is node.values[-1]

    def _chain(self, node: ast.Compare) -> Iterator[tuple[Number, Ranges, bool]]:
        """Each link of `a < b < c`; what is in the middle is looked at once."""
        left = self.expressions.number(node.left)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                raise self.expressions.source.refuse(
                    node, "`in` within a chain", "write two comparisons"
                )
            right = self.expressions.number(comparator)
            truth = self.expressions.writer.compared(self._operator(node, operator), left, right)
            yield truth, {}, comparator is node.comparators[-1]
            left = right

    def _operator(self, node: ast.AST, operator: ast.cmpop) -> str:
        if type(operator) in _COMPARISONS:
            return _COMPARISONS[type(operator)]
        raise self.expressions.source.refuse(
            node, f"there is no compiled `{type(operator).__name__}`", "compare with == or !="
        )

    def _compared(
        self, node: ast.Compare, operator: ast.cmpop, left: Number, comparator: ast.expr
    ) -> tuple[Number, Ranges, Ranges]:
        """One comparison; and in which ranges names lie where it is true, where it is not."""
        if isinstance(operator, ast.In | ast.NotIn):
            found = self._contained(node, left, comparator)
            return (
                self.expressions.writer.negated(found)
                if isinstance(operator, ast.NotIn)
                else found,
                {},
                {},
            )
        name = self._operator(node, operator)
        right = self.expressions.number(comparator)
        then, otherwise = {}, {}
        if isinstance(node.left, ast.Name) and right.is_constant:
            then[node.left.id] = _narrowed(name, left, right.lo)
            otherwise[node.left.id] = _narrowed(_OPPOSITES[name], left, right.lo)
        if isinstance(comparator, ast.Name) and left.is_constant:
            then[comparator.id] = _narrowed(_SWAPPED[name], right, left.lo)
            otherwise[comparator.id] = _narrowed(_OPPOSITES[_SWAPPED[name]], right, left.lo)
        return self.expressions.writer.compared(name, left, right), then, otherwise

    def _contained(self, node: ast.Compare, number: Number, among: ast.expr) -> Number:
        """`number in (a, b)`, where the collection is written there or is a constant."""
        if isinstance(among, ast.Tuple | ast.List | ast.Set):
            items = [self.expressions.number(item) for item in among.elts]
        else:
            value = self.expressions.value(among)
            if not isinstance(value, Known) or not isinstance(value.thing, tuple | frozenset):
                raise self.expressions.source.refuse(
                    node, f"`{ast.unparse(among)}` is no collection of constants", "write (a, b)"
                )
            if not all(isinstance(member, int) for member in value.thing):
                raise self.expressions.source.refuse(
                    node, "not all of them are numbers", "use whole numbers"
                )
            members = sorted(value.thing) if isinstance(value.thing, frozenset) else value.thing
            items = [self.expressions.wrapped(among, member) for member in members]
        found = constant(0)
        for item in items:
            same = self.expressions.writer.compared("eq", number, item)
            if found == constant(0) or same == constant(1):
                found = same
            elif same != constant(0) and found != constant(1):
                register = self.expressions.writer.result(f"or i1 {found.text}, {same.text}")
                found = Number(register, 0, 1, truth=True)
        return found

    def chosen(self, node: ast.IfExp) -> Value:
        """`a if b else c`: only one of the two is looked at."""
        then, otherwise = self.expressions.writer.name("then"), self.expressions.writer.name("else")
        before = self.expressions.scope.snapshot()
        when, unless = self.branched(node.test, then, otherwise)
        join = Join(self.expressions.writer, "either")
        for block, operand, ranges in ((then, node.body, when), (otherwise, node.orelse, unless)):
            if self.expressions.writer.begin(block):
                self.expressions.scope.narrow(ranges)
                join.arrive(self.expressions.number(operand))
                self.expressions.scope.restore(before)
        return join.meet()

    def branched(self, node: ast.expr, then: str, otherwise: str) -> tuple[Ranges, Ranges]:
        """Go on in one of two blocks; returns what names are known to be in each of them."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                when, unless = self.branched(node.operand, otherwise, then)
                return unless, when
            case ast.BoolOp():
                return self._branched(node, then, otherwise)
            case ast.Compare(ops=[operator], comparators=[comparator]):
                left = self.expressions.number(node.left)
                truth, when, unless = self._compared(node, operator, left, comparator)
                self.expressions.writer.branch(truth, then, otherwise)
                return when, unless
        self.expressions.writer.branch(
            self.expressions.writer.truth_of(self.expressions.number(node)), then, otherwise
        )
        return {}, {}

    def _branched(self, node: ast.BoolOp, then: str, otherwise: str) -> tuple[Ranges, Ranges]:
        is_and = isinstance(node.op, ast.And)
        before = self.expressions.scope.snapshot()
        known: Ranges = {}
        for operand in node.values[:-1]:
            go_on = self.expressions.writer.name("and" if is_and else "or")
            ways = (go_on, otherwise) if is_and else (then, go_on)
            when, unless = self.branched(operand, *ways)
            ranges = when if is_and else unless
            known |= ranges
            if not self.expressions.writer.begin(go_on):
                self.expressions.scope.restore(before)
                return ({}, {})
            self.expressions.scope.narrow(ranges)
        when, unless = self.branched(node.values[-1], then, otherwise)
        self.expressions.scope.restore(before)
        return (known | when, {}) if is_and else ({}, known | unless)


def _narrowed(operator: str, number: Number, bound: int) -> tuple[int, int]:
    """The range of a number where it compares so with `bound`."""
    lo, hi = number.lo, number.hi
    match operator:
        case "eq":
            return bound, bound
        case "ne":
            return (lo + (lo == bound), hi - (hi == bound))
        case "slt":
            return lo, min(hi, bound - 1)
        case "sle":
            return lo, min(hi, bound)
        case "sgt":
            return max(lo, bound + 1), hi
    return max(lo, bound), hi
