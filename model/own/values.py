"""Encoding of names, choices and None as numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from model.core.nearest import nearest
from model.own.fields import NONE, AnyField, Choice, Name, Number, Sequenced, Set
from model.own.kinds import NUMBER, Kind

Refuse = Callable[[ast.AST | None, str, str], Exception]


@dataclass(slots=True)
class Numbering(ast.NodeTransformer):
    """Writes numbers for the text and the None that are compared with fields, or stored in them.

    `kind` says what an expression is, `taken` which words a function of the file takes for which
    of its arguments. `names` are constants of the file, of which some may be text. Raises what
    `refuse` makes for text that no field gives a meaning.
    """

    kind: Callable[[ast.expr], Kind]
    taken: Callable[[str], Mapping[int, Choice | Name]]
    names: Mapping[str, Any]
    refuse: Refuse

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`s.state[rm] == "done"`, `s.leader is not None`, `s.state[rm] in ("a", "b")`"""
        operands = [node.left, *node.comparators]
        fields = [field for field in map(self._field, operands) if field is not None]
        if fields and isinstance(fields[0], Choice | Name):
            if isinstance(fields[0], Choice) and any(
                isinstance(op, ast.Is | ast.IsNot) for op in node.ops
            ):
                what = f"`{ast.unparse(node)}` compares words with is"
                raise self.refuse(node, what, "write == or !=")
            node.left, *node.comparators = (self._number(fields[0], each) for each in operands)
            if isinstance(fields[0], Name):
                swapped = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}
                node.ops = [swapped[type(op)]() if type(op) in swapped else op for op in node.ops]
        elif fields and isinstance(fields[0], Set | Sequenced):
            node.left, *node.comparators = (self._member(fields[0], each) for each in operands)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`s.seen | {"request"}`"""
        of = next(
            (f for f in map(self._field, (node.left, node.right)) if isinstance(f, Set)), None
        )
        if of is not None:
            node.left, node.right = self._member(of, node.left), self._member(of, node.right)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`s.seen |= {"request"}`"""
        field = self._field(node.target)
        if isinstance(field, Set):
            node.value = self._member(field, node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`s.wire[a, b].send("request")`, `send(s, a, b, "request")`"""
        match node.func:
            case ast.Attribute(value=owner):
                field = self._field(owner)
                if isinstance(field, Set | Sequenced):
                    node.args = [self._member(field, each) for each in node.args]
            case ast.Name(id=called):
                for place, choice in self.taken(called).items():
                    if place < len(node.args):
                        node.args[place] = self._number(choice, node.args[place])
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`s.state[rm] = "done"`"""
        for target in node.targets:
            field = self._field(target)
            if isinstance(field, Set | Sequenced):
                node.value = self._member(field, node.value)
            elif field is not None:
                node.value = self._number(field, node.value)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Text and None that are left have no meaning."""
        if isinstance(node.value, str):
            raise self.refuse(
                node,
                f"{node.value!r} has no meaning here",
                "compare text with a field of choices, or store it in one, directly",
            )
        if node.value is None:
            raise self.refuse(
                node,
                "None has no meaning here",
                "compare it with a field of names (or_none=True), or store it in one, directly",
            )
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """A statement that is a text is a remark."""
        if isinstance(node.value, ast.Constant):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """`return None` ends an action."""
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            node.value = None
        return self.generic_visit(node)

    def _field(self, node: ast.expr) -> AnyField | None:
        """The field whose values an expression has: `s.leader`, `s.state[rm]`."""
        kind = self.kind(node)
        return kind if isinstance(kind, AnyField) else None

    def _member(self, field: Set | Sequenced, node: ast.expr) -> ast.expr:
        """The same of what a set or a sequence may hold, and of sets that are written there."""
        return self._number(field.element, node)

    def _number(self, field: AnyField, node: ast.expr) -> ast.expr:
        """What a field keeps for this; anything but text and None is left as it is."""
        if isinstance(field, Choice) and isinstance(node, ast.Name):
            kind = self.kind(node)
            if isinstance(kind, Choice) and kind.values != field.values:
                return self._translated(kind, field, node)
        if isinstance(field, Name) and field.or_none and self._may_be_below(node):
            made = ast.Call(ast.Name("__named__", ast.Load()), [node], [])
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if isinstance(node, ast.IfExp):
            node.body, node.orelse = (
                self._number(field, node.body),
                self._number(field, node.orelse),
            )
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            node.elts = [self._number(field, each) for each in node.elts]
        elif isinstance(node, ast.Name) and isinstance(self.names.get(node.id), str):
            text = ast.copy_location(ast.Constant(self.names[node.id]), node)
            return self._number(field, text)
        elif isinstance(node, ast.Constant) and (number := self._kept(field, node)) is not None:
            return ast.copy_location(ast.Constant(number), node)
        return node

    def _may_be_below(self, node: ast.expr) -> bool:
        """Whether an expression is a number that may be that of None, and means none then."""
        kind = self.kind(node)
        if isinstance(kind, Number):
            return kind.lo < 0
        # A number that is written there is no negative one: that is an operation.
        return kind == NUMBER and not isinstance(node, ast.Constant)

    @staticmethod
    def _translated(kind: Choice, field: Choice, node: ast.Name) -> ast.expr:
        """A word of fewer words, as a field of more keeps it."""
        *firsts, last = range(len(kind.values))
        made: ast.expr = ast.Constant(field.values.index(kind.values[last]))
        for number in firsts:
            asked = ast.Compare(node, [ast.Eq()], [ast.Constant(number)])
            kept = ast.Constant(field.values.index(kind.values[number]))
            made = ast.IfExp(asked, kept, made)
        for each in ast.walk(made):
            if not hasattr(each, "lineno"):
                ast.copy_location(each, node)
        return made

    def _kept(self, field: AnyField, node: ast.Constant) -> int | None:
        value: Any = node.value
        if isinstance(value, str) and isinstance(field, Choice):
            if value in field.values:
                return field.values.index(value)
            near = nearest(value, field.values)
            instead = f"did you mean {near!r}? It" if near else "it"
            known = ", ".join(repr(each) for each in field.values)
            raise self.refuse(
                node, f"{field.name} is never {value!r}", f"{instead} is one of {known}"
            )
        if isinstance(value, str) and isinstance(field, Name):
            raise self.refuse(
                node,
                f"{field.name} holds a {field.of.name}, and {value!r} is text",
                f"names are numbers in rules: use an argument, or 0 for {field.of.describe(0)}",
            )
        if value is None and isinstance(field, Name):
            if field.or_none:
                return NONE
            raise self.refuse(node, f"{field.name} is never None", "declare it with or_none=True")
        return None
