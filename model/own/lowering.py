"""Lowering of sets, queues and logs: to numbers with a bit for each member, to rows of places.

A rule comes here with its words numbered. What it does with a set becomes an operation on a number
(`TREES`), what it does with a queue or a log a call of a function that is written for that field
(`model.own.sequence_code`), and an element of a field with more than two indices gets the index
that the layout has. Nothing else is changed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterline.model.core.made import note_operation
from waterline.model.own.fields import AnyField, Container, Queue, Set
from waterline.model.own.lowered_calls import (
    NamedSequence,
    alike,
    as_read,
    flat,
    operation_of,
    takes_a_part,
)
from waterline.model.own.lowered_expressions import Expressions
from waterline.model.own.sequence_code import copy_function
from waterline.model.own.syntax import at, element_of, truths

TEXT = '''
def has_member(members, member):
    """True if a set has a member; what is outside the domain of the set is no member."""
    return member >= 0 and member < 63 and (members >> member) & 1 == 1


def with_member(members, member):
    """The set and this member."""
    return members | (1 << member)


def without_member(members, member):
    """The set without this member, if it had it."""
    if member >= 0 and member < 63 and (members >> member) & 1 == 1:
        return members ^ (1 << member)
    return members


def is_subset(members, others):
    """True if all members are members of the other set."""
    return members & ~others == 0


def is_proper_subset(members, others):
    """True if all members are members of the other set, which has more."""
    return members & ~others == 0 and members != others


def named(number):
    """A number as a name: below 0 there is none, and it is not None either."""
    if number < 0:
        return -2
    return number


def folded(first, second, extent):
    """One index for two, of which the second is below `extent`; -1 where that is not so."""
    if second < 0 or second >= extent:
        return -1
    return first * extent + second
'''


TREES = {
    f"__{each.name}__": note_operation(each, each.name)
    for each in ast.parse(TEXT).body
    if isinstance(each, ast.FunctionDef)
}
"""Functions by their name in lowered rules, to be copied."""


def changed_by(node: ast.AST, fields: Mapping[str, AnyField]) -> AnyField | None:
    """The set or sequence that a call changes: `s.wire[a, b].receive()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            held = element_of(owner, fields)
            if isinstance(held, Container) and method in held.methods:
                return held if held.methods[method].changes else None
    return None


@dataclass(slots=True)
class Lowering(Expressions, ast.NodeTransformer):
    """Rewrites one function: its statements, and in them the expressions."""

    def lower(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function without sets and sequences."""
        self._asked = {id(truth) for truth in truths(tree)}
        made = self.visit(tree)
        assert isinstance(made, ast.FunctionDef)
        for function in (made, *tuple(self.made.values())):
            for node in ast.walk(ast.fix_missing_locations(function)):
                match node:
                    case ast.Call(func=ast.Name(id=name) as called) if name in TREES:
                        called.id = f"{name[:-2]}_line_{node.lineno}__"
                        operation = copy.deepcopy(TREES[name])
                        operation.name = called.id
                        self._keep(operation, node)
        return made

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """`s.wire[a, b].send(x)`, `s.votes[a].add(b)`"""
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=[]):
                if (sequence := self._sequence(owner)) is not None:
                    return self._change(node, sequence, method, given)
                if isinstance(owner, ast.Attribute | ast.Subscript) and (
                    isinstance(kind := self.kind(owner), Set)
                ):
                    return self._changed_set(node, kind, owner, method, given)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`s.log[a][i] = x`, `s.log[a] = s.log[b][:n]`"""
        if len(node.targets) == 1:
            (target,) = node.targets
            if (sequence := self._sequence(target)) is not None:
                return self._assign(node, sequence, node.value)
            if isinstance(target, ast.Subscript):
                sequence = self._sequence(target.value)
                if sequence is not None and not isinstance(target.slice, ast.Slice):
                    self._require_row(target, sequence)
                    if sequence.field.is_sorted:
                        raise self.no_order(target, sequence.field)
                    if isinstance(sequence.field, Queue):
                        what = f"{sequence.field.name} is a Queue, and what is in it never changes"
                        instead = "receive it and send another one, or declare a Log"
                        raise self.refuse(target, what, instead)
                    value = self.visit(node.value)
                    given = [*self._reads(sequence), self.visit(target.slice), value]
                    call = self._call("put", sequence.field, node, given)
                    return at(ast.Expr(call), node)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`s.votes[a] -= {b}`"""
        sequence = None
        if isinstance(node.target, ast.Subscript):
            sequence = self._sequence(node.target.value)
        if sequence is not None:
            self._require_row(node, sequence)
            shown = ast.unparse(node.target)
            raise self.refuse(node, f"{shown} is changed in its place", f"write {shown} = ...")
        if isinstance(self.kind(node.target), Set) or self._is_set(node.value):
            if not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
                raise self._no_operation(node, node.target)
            self._require_set(node.value)
            self._require_set(node.target)
            node.target, value = self.visit(node.target), self.visit(node.value)
            if isinstance(node.op, ast.Sub):
                node.op, value = ast.BitAnd(), ast.UnaryOp(ast.Invert(), value)
            node.value = value
            return node
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """`for n in s.votes[a]:`, `for m in s.wire[a, b]:`"""
        if (sequence := self._sequence(node.iter)) is not None:
            self._require_row(node.iter, sequence)
            self._require_unchanged(node, sequence)
            number = self._variable(node)
            counted = self._range(node, self._length(sequence, node))
            first = ast.Assign([node.target], self._element(sequence, number))
            body = [at(first, node), *map(self.visit, node.body)]
            return at(ast.For(number, counted, flat(body), self._all(node.orelse), None), node)
        if self._is_set(node.iter):
            members = self._variable(node)
            most = self._members_max(node.iter)
            before = at(ast.Assign([members], self.visit(node.iter)), node)
            inside = operation_of("has_member", as_read(members), as_read(node.target))
            member = at(ast.If(inside, self._all(node.body), []), node)
            counted = self._range(node, ast.Constant(most))
            orelse = self._all(node.orelse)
            return [before, at(ast.For(node.target, counted, [member], orelse, None), node)]
        return self.generic_visit(node)

    def _change(
        self, node: ast.Expr, sequence: NamedSequence, method: str, given: Sequence[ast.expr]
    ) -> ast.AST | list[ast.stmt]:
        kind = sequence.field
        takes = self._require_method(node, kind, method).takes != "nothing"
        if len(given) != takes or sequence.end is not None:
            what = f"`{ast.unparse(node)}` is given {len(given)} arguments"
            raise self.refuse(node, what, f"write {method}({'...' if takes else ''})")
        values = [self.visit(each) for each in given]
        reads = self._reads(sequence)
        if method == kind.adds:
            # The value is computed once: to compute it may change the state.
            bound = []
            if self.room is not None and "is_full" in kind.code.takes:
                name = self._variable(node)
                bound = [at(ast.Assign([name], values[0]), node)]
                values = [as_read(name)]
            added = at(ast.Expr(self._call("add", kind, node, [*reads, *values])), node)
            if self.room is None:
                return added
            asked = [*self._reads(sequence), *(copy.deepcopy(values) if bound else [])]
            is_full = self._call("is_full", kind, node, asked)
            ends = ast.Return(ast.Constant(self.room(kind)))
            return [*bound, at(ast.If(is_full, [at(ends, node)], []), node), added]
        if method == "clear" and kind.is_row:
            return at(ast.Expr(self._call("truncate", kind, node, [*reads, ast.Constant(0)])), node)
        return at(ast.Expr(self._call(method, kind, node, [*reads, *values])), node)

    def _changed_set(
        self, node: ast.Expr, kind: Set, owner: ast.expr, method: str, given: Sequence[ast.expr]
    ) -> ast.stmt:
        self._require_method(node, kind, method)
        # To take a part out of a struct changes nothing, and is done twice.
        calls = [each for each in ast.walk(owner) if isinstance(each, ast.Call)]
        if not all(isinstance(c.func, ast.Name) and takes_a_part(c.func.id) for c in calls):
            what = f"`{ast.unparse(owner)}` calls a function"
            raise self.refuse(node, what, "keep what it returns in a variable, and index with that")
        target = self.visit(copy.deepcopy(owner))
        target.ctx = ast.Store()
        if method == "clear" and not given:
            return at(ast.Assign([target], ast.Constant(0)), node)
        if method == "clear" or len(given) != 1:
            what = f"`{ast.unparse(node)}` is given {len(given)} arguments"
            raise self.refuse(node, what, f"write {method}({'' if method == 'clear' else '...'})")
        operation = "with_member" if method == "add" else "without_member"
        value = operation_of(operation, self.visit(owner), self.visit(given[0]))
        return at(ast.Assign([target], value), node)

    def _assign(self, node: ast.Assign, target: NamedSequence, value: ast.expr) -> ast.stmt:
        """A sequence becomes the same as another one, or as the beginning of it."""
        self._require_row(node, target)
        source = self._sequence(value)
        pair = None if source is None else alike(target.field, source.field)
        if source is None or target.end is not None or pair is None:
            raise self.refuse(
                node,
                f"{target.field.name} is not given a sequence of the same values",
                f"write one, as s.{target.field.name}[...], or its beginning, [:n]",
            )
        name = f"__copy_{target.field.name}_{source.field.name}_line_{node.lineno}__"
        made = copy_function(*pair, name)
        given = [*self._reads(target), *self._reads(source), self._end(source)]
        called = self._inline_call(made, node, given, *pair)
        return at(ast.Expr(called), node)

    def _all(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return flat(list(map(self.visit, statements)))

    def _require_unchanged(self, node: ast.For, sequence: NamedSequence) -> None:
        known = sequence.field.methods
        for each in ast.walk(ast.Module(node.body, [])):
            match each:
                case ast.Call(func=ast.Attribute(value=owner, attr=called)) if (
                    called in known and known[called].changes
                ):
                    found = self._sequence(owner)
                    if found is not None and found.field is sequence.field:
                        what = f"{sequence.field.name} changes while a loop goes through it"
                        raise self.refuse(each, what, "change it after the loop")
