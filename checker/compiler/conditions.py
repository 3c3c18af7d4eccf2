"""Code generation for comparisons and boolean expressions, with Python's short circuit.

A true comparison narrows the ranges of its names: `leader != NO_REPLICA and s.role[leader]` needs
no check that the leader is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from waterline.checker.compiler import ir
from waterline.checker.compiler.emitter import Join, Writer
from waterline.checker.compiler.resolution import Known
from waterline.checker.compiler.scope import Names, Ranges
from waterline.checker.compiler.source import Source
from waterline.checker.compiler.values import Number, Value, constant

_COMPARISONS = {
    "==": "eq",
    "!=": "ne",
    "<": "slt",
    "<=": "sle",
    ">": "sgt",
    ">=": "sge",
}
_OPPOSITES = {"eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle"}
_SWAPPED = {"eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}


class Operands(Protocol):
    """Operands of conditions: other expressions, which may have conditions in them."""

    source: Source
    writer: Writer
    scope: Names

    def value(self, node: ir.Expression) -> Value:
        """Compile an expression."""

    def number(self, node: ir.Expression) -> Number:
        """Compile an expression that must be a number."""

    def wrap(self, node: ir.Expression, thing: int) -> Number:
        """A number of Python's own."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Writes the conditions among the expressions of one function."""

    expressions: Operands

    def join(self, node: ir.Comparison | ir.Contained | ir.Chain | ir.Both | ir.Either) -> Number:
        """Compile a comparison, or `and` and `or` with their values: the last operand evaluated."""
        if isinstance(node, ir.Comparison | ir.Contained):
            return self._compare(node)[0]
        join = Join(self.expressions.writer, "known")
        before = self.expressions.scope.snapshot()
        steps = self._links(node) if isinstance(node, ir.Chain) else self._steps(node)
        stops_at = isinstance(node, ir.Either)
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

    def _steps(self, node: ir.Both | ir.Either) -> Iterator[tuple[Number, Ranges, bool]]:
        """Yield each operand, the ranges it implies for the next, and whether it is the last."""
        for operand in node.operands:
            is_last = operand is node.operands[-1]
            if isinstance(operand, ir.Comparison | ir.Contained):
                truth, then, otherwise = self._compare(operand)
                yield truth, then if isinstance(node, ir.Both) else otherwise, is_last
            else:
                yield self.expressions.number(operand), {}, is_last

    def _links(self, node: ir.Chain) -> Iterator[tuple[Number, Ranges, bool]]:
        """Yield each link of `a < b < c`; operands in the middle are evaluated once."""
        first, *others = node.operands
        left = self.expressions.number(first)
        for operator, operand in zip(node.operators, others, strict=True):
            right = self.expressions.number(operand)
            truth = self.expressions.writer.compare(_COMPARISONS[operator], left, right)
            yield truth, {}, operand is others[-1]
            left = right

    def _compare(self, node: ir.Comparison | ir.Contained) -> tuple[Number, Ranges, Ranges]:
        """Compile a comparison; also return ranges of names where it is true, and where not."""
        left = self.expressions.number(node.left)
        if isinstance(node, ir.Contained):
            found = self._contains(node, left)
            return self.expressions.writer.negate(found) if node.negated else found, {}, {}
        name = _COMPARISONS[node.operator]
        right = self.expressions.number(node.right)
        then, otherwise = {}, {}
        if isinstance(node.left, ir.Name) and right.is_constant:
            then[node.left.name] = _narrow(name, left, right.lo)
            otherwise[node.left.name] = _narrow(_OPPOSITES[name], left, right.lo)
        if isinstance(node.right, ir.Name) and left.is_constant:
            then[node.right.name] = _narrow(_SWAPPED[name], right, left.lo)
            otherwise[node.right.name] = _narrow(_OPPOSITES[_SWAPPED[name]], right, left.lo)
        return self.expressions.writer.compare(name, left, right), then, otherwise

    def _contains(self, node: ir.Contained, number: Number) -> Number:
        """`number in (a, b)`, where the collection is written there or is a constant."""
        if isinstance(node.among, ir.Tuple):
            items = [self.expressions.number(item) for item in node.among.items]
        else:
            value = self.expressions.value(node.among)
            if not isinstance(value, Known) or not isinstance(value.thing, tuple | frozenset):
                raise self.expressions.source.refuse(
                    node.line, f"`{node.among.text}` is no collection of constants", "write (a, b)"
                )
            if not all(isinstance(member, int) for member in value.thing):
                raise self.expressions.source.refuse(
                    node.line, "not all of them are numbers", "use whole numbers"
                )
            members = sorted(value.thing) if isinstance(value.thing, frozenset) else value.thing
            items = [self.expressions.wrap(node.among, member) for member in members]
        found = constant(0)
        for item in items:
            same = self.expressions.writer.compare("eq", number, item)
            if found == constant(0) or same == constant(1):
                found = same
            elif same != constant(0) and found != constant(1):
                register = self.expressions.writer.result(f"or i1 {found.text}, {same.text}")
                found = Number(register, 0, 1, truth=True)
        return found

    def choose(self, node: ir.Choice) -> Value:
        """Compile `a if b else c`: only one of the two is evaluated."""
        then, otherwise = self.expressions.writer.name("then"), self.expressions.writer.name("else")
        before = self.expressions.scope.snapshot()
        when, unless = self.branch(node.test, then, otherwise)
        join = Join(self.expressions.writer, "either")
        for block, operand, ranges in (
            (then, node.then, when),
            (otherwise, node.otherwise, unless),
        ):
            if self.expressions.writer.begin(block):
                self.expressions.scope.narrow(ranges)
                join.arrive(self.expressions.number(operand))
                self.expressions.scope.restore(before)
        return join.meet()

    def branch(self, node: ir.Expression, then: str, otherwise: str) -> tuple[Ranges, Ranges]:
        """Go on in one of two blocks; returns what names are known to be in each of them."""
        match node:
            case ir.Unary(operator="not", operand=operand):
                when, unless = self.branch(operand, otherwise, then)
                return unless, when
            case ir.Both() | ir.Either():
                return self._branch(node, then, otherwise)
            case ir.Comparison() | ir.Contained():
                truth, when, unless = self._compare(node)
                self.expressions.writer.branch(truth, then, otherwise)
                return when, unless
        self.expressions.writer.branch(
            self.expressions.writer.truth_of(self.expressions.number(node)), then, otherwise
        )
        return {}, {}

    def _branch(
        self, node: ir.Both | ir.Either, then: str, otherwise: str
    ) -> tuple[Ranges, Ranges]:
        is_and = isinstance(node, ir.Both)
        before = self.expressions.scope.snapshot()
        known: Ranges = {}
        for operand in node.operands[:-1]:
            go_on = self.expressions.writer.name("and" if is_and else "or")
            ways = (go_on, otherwise) if is_and else (then, go_on)
            when, unless = self.branch(operand, *ways)
            ranges = when if is_and else unless
            known |= ranges
            if not self.expressions.writer.begin(go_on):
                self.expressions.scope.restore(before)
                return ({}, {})
            self.expressions.scope.narrow(ranges)
        when, unless = self.branch(node.operands[-1], then, otherwise)
        self.expressions.scope.restore(before)
        return (known | when, {}) if is_and else ({}, known | unless)


def _narrow(operator: str, number: Number, bound: int) -> tuple[int, int]:
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
