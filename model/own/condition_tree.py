"""Validation of a condition's syntax tree against the model's names.

Every node is made anew from what is known here, or refused at its column. What could raise is
guarded: `s.log[0, s.leo[0] - 1] == 1` becomes `0 <= s.leo[0] - 1 and ... and s.log[...] == 1`, so a
comparison of what is not there is not true. Ranges of numbers are followed, so that nothing can
leave 64 bits and no loop is long.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from waterline.model.core.errors import BadCondition, did_you_mean_or
from waterline.model.core.layout import Layout, Place
from waterline.model.own.fields import AnyField, Choice, Name
from waterline.model.own.kinds import misuse_as_number, misuse_as_truth, words_of

TURNS_MAX = 64
"""Maximum number of turns of one loop."""
LOOPS_MAX = 4
GREATEST = (1 << 62) - 1
_OF_STATE, _OF_SETTINGS = "s", "c"
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = "comparisons, and, or, not, + - * // %, any, all, sum, min, max, abs"


@dataclass(frozen=True, slots=True)
class _Number:
    """A number: what it lies between, and what must be so for it to be there."""

    tree: ast.expr
    lo: int
    hi: int
    guards: tuple[ast.expr, ...] = ()


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads one condition about states of a layout. Raises `BadCondition`."""

    text: str
    layout: Layout
    settings: Any
    numbers: Mapping[str, int]
    functions: Mapping[str, Callable[..., Any]]
    fields: Mapping[str, AnyField]
    read: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)
    _variables: dict[str, tuple[int, int]] = field(default_factory=dict)
    _loops: int = 0

    def refuse(self, node: ast.AST | None, what: str, instead: str) -> BadCondition:
        """The error for a place in the text."""
        at = getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute) and node.end_col_offset is not None:
            at = node.end_col_offset - len(node.attr)
        return BadCondition(self.text, at + 1, f"{what}; {instead}")

    # --- what is true or not ---------------------------------------------------------------------

    def truth(self, node: ast.expr) -> ast.expr:
        """A condition, or a part of one that is true or not."""
        match node:
            case ast.BoolOp(op=op, values=values):
                return ast.BoolOp(op, [self.truth(value) for value in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Not(), self.truth(operand))
            case ast.Constant(value=bool() as value):
                return ast.Constant(value)
            case ast.Call(func=ast.Name(id="any" | "all" as kind)):
                loops, element, _ = self._comprehension(node, kind, self.truth)
                return _call_of(kind, ast.GeneratorExp(element, loops))
            case ast.Compare():
                return self._comparison(node)
        if (misuse := misuse_as_truth(self._field_of(node))) is not None:
            raise self.refuse(node, *misuse)
        found = self._number(node)
        is_true = ast.Compare(found.tree, [ast.NotEq()], [ast.Constant(0)])
        return _all_of([*found.guards, is_true])

    def _comparison(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        described = next((f for f in map(self._field_of, operands) if f is not None), None)
        choice = next((f for f in map(self._field_of, operands) if isinstance(f, Choice)), None)
        for operand in operands if choice is not None else ():
            assert choice is not None
            self._require_word(choice, operand)
        guards: list[ast.expr] = []
        made = [self._operand(operand, described, guards) for operand in operands]
        for op, operand in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                if not isinstance(operand, ast.Tuple | ast.List | ast.Set) or not operand.elts:
                    raise self.refuse(operand, "`in` needs a list of values", "write x in (1, 2)")
            elif isinstance(op, ast.Is | ast.IsNot):
                if not isinstance(described, Name):
                    raise self.refuse(node, "`is` compares with None alone", "write ==")
            elif not isinstance(op, _COMPARED):
                raise self.refuse(node, "that is no comparison", "use == != < <= > >= in")
        return _all_of([*guards, ast.Compare(made[0], list(node.ops), made[1:])])

    def _require_word(self, choice: Choice, node: ast.expr) -> None:
        """Require a word of the choice, or a field with the same words."""
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    self._require_word(choice, part)
                return
            case ast.Constant(value=str() | None):
                return  # whether it is one of them is seen when it is numbered
        other = self._field_of(node)
        if not isinstance(other, Choice) or other.values != choice.values:
            what = f"{choice.name} is one of its words, no number"
            raise self.refuse(node, what, f"compare it with {words_of(choice)}")

    def _operand(
        self, node: ast.expr, described: AnyField | None, guards: list[ast.expr]
    ) -> ast.expr:
        """Return an operand as a number, next to a user's field; several for `in`."""
        match node:
            case ast.Constant(value=str() | None):
                if not isinstance(described, Choice | Name):
                    known = "a number, or a name as LEADER or r0"
                    raise self.refuse(node, f"{node.value!r} has no meaning here", f"use {known}")
                return ast.copy_location(ast.Constant(node.value), node)
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
                made = [self._operand(value, described, guards) for value in values]
                return ast.copy_location(ast.Tuple(made, ast.Load()), node)
        found = self._number(node)
        guards.extend(found.guards)
        return found.tree

    def _field_of(self, node: ast.expr) -> AnyField | None:
        """The field of one's own model that an operand is an element of."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self.fields.get(node.attr)
        return None

    # --- numbers ---------------------------------------------------------------------------------

    def _number(self, node: ast.expr) -> _Number:
        match node:
            case ast.Constant(value=int() as value):
                found = _Number(ast.Constant(int(value)), int(value), int(value))
            case ast.Name(id=name):
                found = self._read_name(node, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                found = self._attribute(node, owner, name)
            case ast.Subscript():
                found = self._element(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                of = self._number(operand)
                found = _Number(ast.UnaryOp(ast.USub(), of.tree), -of.hi, -of.lo, of.guards)
            case ast.BinOp(op=op) if type(op) in _OPERATORS:
                found = self._operate(node)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                truth = self.truth(node)
                found = _Number(ast.IfExp(truth, ast.Constant(1), ast.Constant(0)), 0, 1)
            case ast.Call(func=ast.Name(id=name)):
                found = self._call(node, name)
            case _:
                what = f"`{ast.get_source_segment(self.text, node) or '...'}` cannot stand here"
                raise self.refuse(node, what, f"a condition has {_ALLOWED}")
        if found.lo < -GREATEST or found.hi > GREATEST:
            raise self.refuse(node, "that may need more than 64 bits", "use smaller numbers")
        return found

    def _read_name(self, node: ast.Name, name: str) -> _Number:
        if name in self._variables:
            return _Number(ast.Name(name, ast.Load()), *self._variables[name])
        if name in self.numbers:
            value = int(self.numbers[name])
            return _Number(ast.Constant(value), value, value)
        if name in (_OF_STATE, _OF_SETTINGS):
            raise self.refuse(node, f"`{name}` alone is no number", f"write {name}.NAME")
        if name in self.layout.places or name in self.layout.sizes:
            raise self.refuse(node, f"{name} is of the state", f"write s.{name}")
        known = [*self._variables, *self.numbers]
        raise self.refuse(node, f"nothing is called {name!r}", _suggest(name, known))

    def _attribute(self, node: ast.Attribute, owner: str, name: str) -> _Number:
        if owner == _OF_SETTINGS and _OF_SETTINGS not in self._variables:
            value = getattr(self.settings, name, None) if name in self._settings else None
            if value is None:
                there = _suggest(name, self._settings) if self._settings else "there are none"
                raise self.refuse(node, f"there is no setting {name!r}", there)
            return _Number(ast.Constant(int(value)), int(value), int(value))
        if owner != _OF_STATE or _OF_STATE in self._variables:
            raise self.refuse(node, f"`{owner}` has no names", "write s.FIELD or c.SETTING")
        if name in self.layout.sizes:
            value = self.layout.sizes[name]
            return _Number(ast.Constant(value), value, value)
        place = self._place(node, name)
        if place.shape:
            index = ", ".join("0" for _ in place.shape)
            raise self.refuse(
                node, f"{name} has more elements than one", f"say which, as s.{name}[{index}]"
            )
        self.read.append((f"s.{name}", name, ()))
        return _Number(_field(name), place.lo, place.hi)

    def _place(self, node: ast.expr, name: str) -> Place:
        place = self.layout.places.get(name)
        if place is None:
            known = [*(f.name for f in self.layout.fields), *self.layout.sizes]
            raise self.refuse(node, f"the state has no field {name!r}", _suggest(name, known))
        return place

    @property
    def _settings(self) -> tuple[str, ...]:
        return tuple(getattr(self.settings, "_fields", ()))

    def _element(self, node: ast.Subscript) -> _Number:
        """`s.log[0, 1]`, also as `s.log[0][1]`."""
        indices: list[ast.expr] = []
        owner: ast.expr = node
        while isinstance(owner, ast.Subscript):
            inner = owner.slice
            indices = [*(inner.elts if isinstance(inner, ast.Tuple) else [inner]), *indices]
            owner = owner.value
        match owner:
            case ast.Attribute(value=ast.Name(id="s"), attr=name) if "s" not in self._variables:
                place = self._place(owner, name)
            case _:
                raise self.refuse(node, "only fields have elements", "write s.FIELD[INDEX]")
        if len(indices) != len(place.shape):
            wanted = ", ".join("0" for _ in place.shape)
            right = f"s.{name}[{wanted}]" if wanted else f"s.{name}"
            raise self.refuse(
                node, f"{name} has {len(place.shape)} indices, not {len(indices)}", f"write {right}"
            )
        found = [self._number(index) for index in indices]
        guards = [guard for each in found for guard in each.guards]
        for index, each, extent in zip(indices, found, place.shape, strict=True):
            guards += self._inside(index, each, name, extent)
        trees = [each.tree for each in found]
        if place.alive is not None:
            decides = ast.Subscript(_field(place.alive.field), trees[0], ast.Load())
            values = [ast.Constant(value) for value in place.alive.values]
            one_of = ast.Tuple([*values], ast.Load())
            guards.append(ast.Compare(decides, [ast.In()], [one_of]))
        if all(each.lo == each.hi for each in found):
            constant = tuple(each.lo for each in found)
            written = ast.get_source_segment(self.text, node) or name
            self.read.append((written, name, constant))
        where = trees[0] if len(trees) == 1 else ast.Tuple(trees, ast.Load())
        tree = ast.Subscript(_field(name), where, ast.Load())
        return _Number(tree, place.lo, place.hi, tuple(guards))

    def _inside(self, node: ast.expr, index: _Number, name: str, extent: int) -> list[ast.expr]:
        """Return the comparisons that keep a variable index within the field."""
        if index.hi < 0 or index.lo >= extent:
            raise self.refuse(node, f"{name} has no element there", f"it has 0 to {extent - 1}")
        asked: list[ast.expr] = []
        if index.lo < 0:
            asked.append(ast.Compare(index.tree, [ast.GtE()], [ast.Constant(0)]))
        if index.hi >= extent:
            asked.append(ast.Compare(index.tree, [ast.Lt()], [ast.Constant(extent)]))
        return asked

    def _operate(self, node: ast.BinOp) -> _Number:
        for operand in (node.left, node.right):
            if (misuse := misuse_as_number(self._field_of(operand))) is not None:
                raise self.refuse(operand, *misuse)
        left, right = self._number(node.left), self._number(node.right)
        guards = [*left.guards, *right.guards]
        match node.op:
            case ast.FloorDiv() | ast.Mod():
                if right.lo == right.hi == 0:
                    raise self.refuse(node.right, "that divides by zero", "use another number")
                if right.lo <= 0 <= right.hi:
                    guards.append(ast.Compare(right.tree, [ast.NotEq()], [ast.Constant(0)]))
                most = max(abs(left.lo), abs(left.hi), abs(right.lo), abs(right.hi))
                ends = [-most - 1, most + 1]
            case ast.Add():
                ends = [left.lo + right.lo, left.hi + right.hi]
            case ast.Sub():
                ends = [left.lo - right.hi, left.hi - right.lo]
            case _:
                ends = [x * y for x, y in product((left.lo, left.hi), (right.lo, right.hi))]
        tree = ast.BinOp(left.tree, node.op, right.tree)
        return _Number(tree, min(ends), max(ends), tuple(guards))

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call, name: str) -> _Number:
        if name in ("any", "all"):
            truth = self.truth(node)
            return _Number(ast.IfExp(truth, ast.Constant(1), ast.Constant(0)), 0, 1)
        if name == "sum":
            return self._sum(node)
        known = ["any", "all", "sum", "min", "max", "abs", *self.functions]
        if name not in known:
            raise self.refuse(node, f"{name} cannot be called", _suggest(name, known))
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self.refuse(node, f"{name} takes numbers alone", f"write {name}(...)")
        found = [self._number(argument) for argument in node.args]
        guards = tuple(guard for each in found for guard in each.guards)
        tree = _call_of(name, *(each.tree for each in found))
        wanted = {"min": 2, "max": 2, "abs": 1}.get(name)
        if wanted is None:
            code = self.functions[name].__code__
            if len(found) != code.co_argcount:
                raise self.refuse(node, f"{name} takes {code.co_argcount} numbers", "give as many")
            for argument, each in zip(node.args, found, strict=True):
                # Sets have no negative numbers, nor many.
                if each.lo < 0 or (argument is not node.args[0] and each.hi >= TURNS_MAX - 1):
                    what = f"{name} takes a set, or what may be in it"
                    raise self.refuse(argument, what, "as s.isr")
            return _Number(tree, 0, TURNS_MAX, guards)
        if len(found) < wanted or (name == "abs" and len(found) > 1):
            raise self.refuse(node, f"{name} is given {len(found)} numbers", f"give it {wanted}")
        if name == "abs":
            most = max(abs(found[0].lo), abs(found[0].hi))
            return _Number(tree, 0, most, guards)
        lows, highs = [each.lo for each in found], [each.hi for each in found]
        extreme = min if name == "min" else max
        return _Number(tree, extreme(lows), extreme(highs), guards)

    def _sum(self, node: ast.Call) -> _Number:
        element: list[_Number] = []

        def add(inner: ast.expr) -> ast.expr:
            found = self._number(inner)
            element.append(found)
            if not found.guards:
                return found.tree
            return ast.IfExp(_all_of(list(found.guards)), found.tree, ast.Constant(0))

        loops, tree, turns = self._comprehension(node, "sum", add)
        lo, hi = min(0, element[0].lo), max(0, element[0].hi)
        made = _call_of("sum", ast.GeneratorExp(tree, loops))
        return _Number(made, lo * turns, hi * turns)

    def _comprehension(
        self, node: ast.Call, kind: str, element: Callable[[ast.expr], ast.expr]
    ) -> tuple[list[ast.comprehension], ast.expr, int]:
        """Return the loops, the element, and the maximum number of turns."""
        match node:
            case ast.Call(args=[ast.GeneratorExp() | ast.ListComp() as given], keywords=[]):
                pass
            case _:
                as_in = f"write {kind}(s.leo[r] > 1 for r in range(s.replicas))"
                raise self.refuse(node, f"{kind} needs a comprehension", as_in)
        before, loops, turns = dict(self._variables), [], 1
        for each in given.generators:
            loop, count = self._loop(each)
            loops.append(loop)
            turns *= max(count, 1)
        tree = element(given.elt)
        self._variables = before
        return loops, tree, turns

    def _loop(self, given: ast.comprehension) -> tuple[ast.comprehension, int]:
        self._loops += 1
        if self._loops > LOOPS_MAX:
            raise self.refuse(given.target, "there are too many loops", f"use {LOOPS_MAX} at most")
        match given.target, given.iter:
            case (
                ast.Name(id=name),
                ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] as ends, keywords=[]),
            ) if not given.is_async:
                pass
            case _:
                as_in = "for r in range(s.replicas)"
                raise self.refuse(given.iter, "a loop is over a range", f"write {as_in}")
        if name in (_OF_STATE, _OF_SETTINGS) or name in self.functions or name.startswith("_"):
            raise self.refuse(given.target, f"{name!r} means something else", "call it otherwise")
        found = [self._number(end) for end in ends]
        for end, each in zip(ends, found, strict=True):
            if each.guards:
                raise self.refuse(end, "this may not be there", "loop over a size, as s.replicas")
        lo = found[0].lo if len(found) > 1 else 0
        hi = found[-1].hi - 1
        if hi - lo >= TURNS_MAX:
            raise self.refuse(given.iter, "the loop is too long", f"use {TURNS_MAX} turns at most")
        self._variables[name] = (lo, max(lo, hi))
        asked = [self.truth(each) for each in given.ifs]
        over = _call_of("range", *(each.tree for each in found))
        return ast.comprehension(ast.Name(name, ast.Store()), over, asked, 0), hi - lo + 1


def _field(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(_OF_STATE, ast.Load()), name, ast.Load())


def _call_of(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _all_of(conditions: Sequence[ast.expr]) -> ast.expr:
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), list(conditions))


def _suggest(name: str, known: Sequence[str]) -> str:
    """`did you mean leo? It has ...`"""
    there = f"there are {', '.join(known)}" if known else "there is nothing"
    return did_you_mean_or(name, known, there)
