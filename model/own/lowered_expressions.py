"""Lowering of expressions with sets, queues and logs."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from waterline.model.own.comprehensions import Replaced
from waterline.model.own.fields import AnyField, PlacedField, Set
from waterline.model.own.lowered_calls import (
    Calls,
    NamedSequence,
    alike,
    as_read,
    fold,
    operation_of,
)
from waterline.model.own.sequence_code import equal
from waterline.model.own.syntax import at

_ORDERS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.LtE: ("is_subset", False),
    ast.Lt: ("is_proper_subset", False),
    ast.GtE: ("is_subset", True),
    ast.Gt: ("is_proper_subset", True),
}


@dataclass(slots=True)
class Expressions(Calls, ast.NodeTransformer):
    """Rewrites expressions: see `model.own.lowering`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`len(...)`, `set()`, `s.wire[a, b].receive()`"""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[counted], keywords=[]):
                if (sequence := self._sequence(counted)) is not None:
                    if sequence.end is not None:
                        raise self.refuse(node, "the length of a beginning", "write min(...)")
                    return self._length(sequence, node)
                if self._is_set(counted):
                    number = ast.Attribute(self.visit(counted), "bit_count", ast.Load())
                    return at(ast.Call(number, [], []), node)
            case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
                return at(ast.Constant(0), node)
            case ast.Call(
                func=ast.Name(id="set"),
                args=[ast.Attribute(value=ast.Name()) | ast.Call(func=ast.Name(id="range"))],
                keywords=[],
            ):
                return self._whole(node)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=[]):
                if (sequence := self._sequence(owner)) is not None:
                    known = self._require_method(node, sequence.field, method)
                    takes = known.takes != "nothing"
                    if known.gives == "nothing" or len(given) != takes:
                        what = f"`{ast.unparse(node)}` has no value"
                        raise self.refuse(node, what, "write it on a line of its own")
                    asked = [*self._reads(sequence), *map(self.visit, given)]
                    return self._call(method, sequence.field, node, asked)
                if isinstance(kind := self.kind(owner), Set):
                    self._require_method(node, kind, method)
                    what = f"`{ast.unparse(node)}` has no value"
                    raise self.refuse(node, what, "write it on a line of its own")
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`n in s.votes[a]`, `s.votes[a] <= s.up`, `s.log[a][:n] == s.log[b][:n]`"""
        operands = [node.left, *node.comparators]
        sequences = [self._sequence(operand) for operand in operands]
        if len(operands) > 2:
            if any(sequences) or any(map(self._is_set, operands)):
                raise self.refuse(
                    node, "a chain of comparisons of sets or sequences", "write them with `and`"
                )
            return self.generic_visit(node)
        left, right = operands
        (op,) = node.ops
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(node, left, right, sequences[1])
        for operand, sequence in zip(operands, sequences, strict=True):
            if sequence is not None:
                self._require_row(operand, sequence)
        if sequences[0] is not None and sequences[1] is not None:
            same = self._equal(node, sequences[0], sequences[1])
            return same if isinstance(op, ast.Eq) else at(ast.UnaryOp(ast.Not(), same), node)
        if any(sequences):
            what = f"`{ast.unparse(node)}` compares a sequence with something else"
            raise self.refuse(node, what, "compare its len(...), or one of its values, as [0]")
        if self._is_set(left) or self._is_set(right):
            self._require_set(left)
            self._require_set(right)
            found = _ORDERS.get(type(op))
            if found is not None:
                operation, is_swapped = found
                pair = [self.visit(left), self.visit(right)]
                return at(operation_of(operation, *(pair[::-1] if is_swapped else pair)), node)
            if not isinstance(op, ast.Eq | ast.NotEq):
                raise self._no_operation(node, left)
            node.left, node.comparators = self.visit(left), [self.visit(right)]
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`s.votes[a] | {b}`"""
        if self._is_set(node.left) or self._is_set(node.right):
            if not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
                raise self._no_operation(node, node.left)
            self._require_set(node.left)
            self._require_set(node.right)
            if isinstance(node.op, ast.Sub):
                others = ast.UnaryOp(ast.Invert(), self.visit(node.right))
                return at(ast.BinOp(self.visit(node.left), ast.BitAnd(), others), node)
        return self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """`{a, b}`"""
        made: ast.expr = ast.Constant(0)
        for member in node.elts:
            made = operation_of("with_member", made, self.visit(member))
        return at(made, node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """`{n for n in s.nodes if s.up[n]}`"""
        match node:
            case ast.SetComp(
                elt=ast.Name(id=member), generators=[ast.comprehension(target=ast.Name(id=same))]
            ) if member == same:
                bit = ast.BinOp(ast.Constant(1), ast.LShift(), node.elt)
                each = ast.GeneratorExp(bit, node.generators)
                total = ast.Call(ast.Name("sum", ast.Load()), [at(each, node)], [])
                return self.visit(at(total, node))
        what = "a set is made of something else than what its loop counts"
        raise self.refuse(node, what, "write {n for n in s.nodes if ...}")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """`any(s.up[n] for n in s.votes[a])`"""
        turns = []
        replaced: dict[str, ast.expr] = {}
        for turn in node.generators:
            if (sequence := self._sequence(turn.iter)) is not None:
                self._require_row(turn.iter, sequence)
                if not isinstance(turn.target, ast.Name):
                    raise self.refuse(turn.target, "a value is taken apart", "name it")
                number = self._variable(node)
                counted = self._range(node, self._length(sequence, node))
                replaced[turn.target.id] = self._element(sequence, number)
                turn = ast.comprehension(number, counted, turn.ifs, 0)  # noqa: PLW2901
            elif self._is_set(turn.iter):
                counted = self._range(node, ast.Constant(self._members_max(turn.iter)))
                inside = operation_of("has_member", self.visit(turn.iter), as_read(turn.target))
                conditions = [at(inside, node), *map(self.visit, turn.ifs)]
                turns.append(ast.comprehension(turn.target, counted, conditions, 0))
                continue
            else:
                turn.iter = self.visit(turn.iter)
            turn.ifs = [self.visit(each) for each in turn.ifs]
            turns.append(turn)
        element = self.visit(node.elt)
        made = at(ast.GeneratorExp(element, turns), node)
        return Replaced(replaced).visit(made) if replaced else made

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """`sum([s.up[n] for n in s.votes[a]])`"""
        return self.visit_GeneratorExp(at(ast.GeneratorExp(node.elt, node.generators), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`s.wire[a, b][0]`, `s.table[a, b, c]`"""
        if (sequence := self._sequence(node)) is not None:
            return self._bare(node, sequence)
        if (sequence := self._sequence(node.value)) is not None:
            self._require_row(node, sequence)
            if sequence.field.is_sorted:
                raise self.no_order(node, sequence.field)
            number = self.visit(node.slice)
            return self._call("at", sequence.field, node, [*self._reads(sequence), number])
        kind = self.kind(node.value)
        node = self.generic_visit(node)  # type: ignore[assignment]
        if isinstance(kind, AnyField) and not isinstance(kind, PlacedField):
            node.slice = fold(kind, node.slice)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`s.wire`, where that is one queue"""
        if (sequence := self._sequence(node)) is not None:
            return self._bare(node, sequence)
        return self.generic_visit(node)

    def _bare(self, node: ast.expr, sequence: NamedSequence) -> ast.expr:
        self._require_row(node, sequence)
        if id(node) in self._asked and sequence.end is None:
            some = ast.Compare(self._length(sequence, node), [ast.Gt()], [ast.Constant(0)])
            return at(some, node)
        shown = ast.unparse(node)
        raise self.refuse(
            node,
            f"{shown} is a sequence, and stands where a value is wanted",
            f"write len({shown}), {shown}[0], or read it where it is needed",
        )

    def _membership(
        self, node: ast.Compare, left: ast.expr, right: ast.expr, sequence: NamedSequence | None
    ) -> ast.AST:
        if sequence is not None:
            if sequence.end is not None:
                what = f"`{ast.unparse(node)}` looks into the beginning of a sequence"
                raise self.refuse(node, what, "write any(...) over range(...)")
            given = [*self._reads(sequence), self.visit(left)]
            found: ast.expr = self._call("contains", sequence.field, node, given)
        elif self._is_set(right) and not isinstance(right, ast.Set):
            found = operation_of("has_member", self.visit(right), self.visit(left))
        else:
            # One of some values that stand there is no set that is kept.
            node.left = self.visit(left)
            if isinstance(right, ast.Set | ast.Tuple | ast.List):
                right.elts = [self.visit(each) for each in right.elts]
            else:
                node.comparators = [self.visit(right)]
            return node
        is_in = isinstance(node.ops[0], ast.In)
        return at(found if is_in else ast.UnaryOp(ast.Not(), found), node)

    def _equal(self, node: ast.Compare, left: NamedSequence, right: NamedSequence) -> ast.expr:
        pair = alike(left.field, right.field)
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq) or pair is None:
            what = f"`{ast.unparse(node)}` compares sequences of other values"
            raise self.refuse(node, what, "compare one by one")
        name = f"__same_{left.field.name}_{right.field.name}_line_{node.lineno}__"
        made = equal(*pair, name)
        given = [*self._reads(left), self._end(left), *self._reads(right), self._end(right)]
        return self._inline_call(made, node, given, *pair)

    def _whole(self, node: ast.Call) -> ast.AST:
        """The set of all names of a sort, or of the numbers from 0."""
        counted = node.args[0]
        if isinstance(counted, ast.Call):
            if len(counted.args) != 1:
                what = f"`{ast.unparse(node)}` does not begin with 0"
                raise self.refuse(node, what, "write {n for n in range(...)}")
            counted = counted.args[0]
        above = ast.BinOp(ast.Constant(1), ast.LShift(), self.visit(counted))
        return at(ast.BinOp(above, ast.Sub(), ast.Constant(1)), node)
