"""Lowering of `all(...)`, `any(...)` and `sum(...)` to loops, and of loops over a sort to ranges.

That is what they mean; and what only has loops over ranges, conditions and calls can be compiled.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Container
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Members(ast.NodeTransformer):
    """Writes `range(s.nodes)` where a loop or a comprehension goes over `s.nodes`, a sort.

    The members of a sort are the numbers from 0. `plurals` are what sorts are called in a state.
    """

    plurals: Container[str]

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for n in s.nodes:`"""
        node.iter = self._ranged(node.iter)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """`any(s.up[n] for n in s.nodes)`"""
        node.iter = self._ranged(node.iter)
        return self.generic_visit(node)

    def _ranged(self, over: ast.expr) -> ast.expr:
        match over:
            case ast.Attribute(value=ast.Name(), attr=attribute) if attribute in self.plurals:
                counted = ast.Call(ast.Name("range", ast.Load()), [over], [])
                return ast.fix_missing_locations(ast.copy_location(counted, over))
        return over


@dataclass(slots=True)
class Unfolding(ast.NodeTransformer):
    """Replaces them by calls of the functions that it leaves in `loops`, by name.

    `taken` are names that these must not have.
    """

    taken: Container[str]
    loops: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The variables of a function are those that a loop in it may be given."""
        self._known = {argument.arg for argument in node.args.args} | _stored(node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`all(s.done[rm] for rm in range(s.rms))`"""
        match node:
            case ast.Call(
                func=ast.Name(id="all" | "any" | "sum" as kind),
                args=[ast.GeneratorExp() | ast.ListComp() as comprehension],
                keywords=[],
            ):
                # Inner ones first: to the loop around them they are calls.
                self.generic_visit(comprehension)
                return self._unfolded(kind, node, comprehension)
        return self.generic_visit(node)

    def _unfolded(
        self, kind: str, node: ast.Call, comprehension: ast.GeneratorExp | ast.ListComp
    ) -> ast.AST:
        own = _stored(comprehension)
        read = sorted(
            {
                each.id
                for each in ast.walk(comprehension)
                if isinstance(each, ast.Name) and each.id in self._known and each.id not in own
            }
        )
        name = f"{kind}_of_line_{node.lineno}"
        while name in self.taken or name in self.loops:
            name += "_"
        plain = ast.arguments([], [ast.arg(each) for each in read], None, [], [], None, [])
        body = _loop(kind, comprehension)
        loop = ast.FunctionDef(name, plain, body, [], None)
        self.loops[name] = ast.copy_location(loop, node)
        given: list[ast.expr] = [ast.Name(each, ast.Load()) for each in read]
        call = ast.Call(ast.Name(name, ast.Load()), given, [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _loop(kind: str, comprehension: ast.GeneratorExp | ast.ListComp) -> list[ast.stmt]:
    element = copy.deepcopy(comprehension.elt)
    inner: ast.stmt
    if kind == "sum":
        inner = ast.AugAssign(ast.Name("sum_so_far", ast.Store()), ast.Add(), element)
    elif kind == "all":
        inner = ast.If(ast.UnaryOp(ast.Not(), element), [ast.Return(ast.Constant(False))], [])
    else:
        inner = ast.If(element, [ast.Return(ast.Constant(True))], [])
    inner = looped(comprehension, inner)
    if kind == "sum":
        total = ast.Name("sum_so_far", ast.Store())
        end = ast.Return(ast.Name("sum_so_far", ast.Load()))
        return [_at(each, comprehension) for each in (_zero(total), inner, end)]
    end = ast.Return(ast.Constant(kind == "all"))
    return [_at(each, comprehension) for each in (inner, end)]


def looped(comprehension: ast.GeneratorExp | ast.ListComp, inner: ast.stmt) -> ast.stmt:
    """A statement in the loops and conditions of a comprehension."""
    for turn in reversed(comprehension.generators):
        for condition in reversed(turn.ifs):
            inner = ast.If(copy.deepcopy(condition), [inner], [])
        target, over = copy.deepcopy(turn.target), copy.deepcopy(turn.iter)
        inner = ast.For(target, over, [inner], [], None)
    return _at(inner, comprehension)


def _zero(total: ast.Name) -> ast.stmt:
    return ast.Assign([total], ast.Constant(0))


def _at(statement: ast.stmt, like: ast.AST) -> ast.stmt:
    """The statement, and all within it that has no line yet, on the line of this."""
    for node in ast.walk(statement):
        if isinstance(node, ast.stmt | ast.expr) and not hasattr(node, "lineno"):
            ast.copy_location(node, like)
    return statement


def _stored(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
