"""Looking at a rule: all that it may read and write, in any of many states at once.

The syntax tree is gone through as Python would run it, with sets of values in place of numbers:
a condition that may be true and false is gone through both ways. Settings are what they are, so
what a version or the circumstances rule out is not looked at.
"""

from __future__ import annotations

import ast
import functools
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from checker.compiled.source import Source, source_of
from checker.reduced.elements import Elements, Seen
from checker.reduced.worlds import Fields, Number, World, computed, known, merged

WORLDS_MAX = 4000
"""So many ways through one rule are told apart; a rule with more is given up."""
_OPERATORS: Mapping[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, *others: value in others,
    ast.NotIn: lambda value, *others: value not in others,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_WITHOUT_RESULT = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
"""They have none by nothing, or by less than nothing."""
_BUILTINS = {"min": min, "max": max, "abs": abs, "int": int, "bool": bool}
_ON, _BREAK, _CONTINUE, _RETURN = "on", "break", "continue", "return"
_Found = list[tuple[World, Any]]
_Ways = list[tuple[World, tuple[str, Any]]]


class TooIntricate(Exception):
    """A rule has more ways through it than are told apart, or something that is not understood."""


class _StateOf:
    """Stands for the state in a rule."""


class _Settings:
    """Stands for the settings in a rule."""


STATE, SETTINGS = _StateOf(), _Settings()


@dataclass(slots=True)
class Looker:
    """Looks at rules with these settings, in states that hold these `elements`."""

    settings: Any
    elements: Elements
    _source: Source | None = None

    @property
    def seen(self) -> Seen:
        """What the rules that were looked at may do."""
        return self.elements.seen

    # --- rules -----------------------------------------------------------------------------------

    def ways(self, rule: Any, world: World, arguments: tuple[Any, ...]) -> _Found:
        """The worlds in which a rule ends that begins in `world`, each with what it returns."""
        given = [known(a) if isinstance(a, int) else a for a in arguments]
        try:
            return self._called(source_of(rule), given, replace(world, variables={}))
        except TooIntricate as problem:
            raise TooIntricate(f"{rule.__name__}: {problem}") from problem
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as problem:
            raise TooIntricate(f"{rule.__name__}: {problem}") from problem

    def _called(self, source: Source, given: list[Any], world: World) -> _Found:
        caller, variables, decided_by = self._source, world.variables, world.decided_by
        inner = replace(world, variables=dict(zip(source.parameters, given, strict=True)))
        self._source = source
        try:
            ended = self._block(source.tree.body, inner)
        finally:
            self._source = caller
        found: _Found = []
        for after, (_, value) in ended:
            result = _made_of_too(value, after.decided_by - decided_by)
            found.append((replace(after, variables=variables, decided_by=decided_by), result))
        return merged(found)

    def _block(self, statements: list[ast.stmt], world: World) -> _Ways:
        """The worlds after statements in order, each with how it goes on."""
        ended: _Ways = []
        going = [world]
        for statement in statements:
            following: _Ways = []
            for each in going:
                following += self._statement(statement, each)
            following = self._joined(following)
            ended += [way for way in following if way[1][0] != _ON]
            going = [after for after, how in following if how[0] == _ON]
        return self._joined(ended + [(after, (_ON, None)) for after in going])

    def _joined(self, ways: _Ways) -> _Ways:
        if len(ways) < 2:
            return ways
        found: _Ways = []
        for how in (_ON, _BREAK, _CONTINUE, _RETURN):
            of_kind = [(world, value) for world, (kind, value) in ways if kind == how]
            found += [(world, (how, value)) for world, value in merged(of_kind)]
        if len(found) > WORLDS_MAX:
            raise TooIntricate(f"it has more than {WORLDS_MAX} ways through it")
        return found

    # --- statements ------------------------------------------------------------------------------

    def _statement(self, node: ast.stmt, world: World) -> _Ways:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return [(world, (_ON, None))]
            case ast.Expr(value=value):
                return [(after, (_ON, None)) for after, _ in self._value(value, world)]
            case ast.Return(value=None):
                return [(world, (_RETURN, None))]
            case ast.Return(value=ast.expr() as value):
                return [(after, (_RETURN, found)) for after, found in self._value(value, world)]
            case ast.Break():
                return [(world, (_BREAK, None))]
            case ast.Continue():
                return [(world, (_CONTINUE, None))]
            case ast.If():
                return self._if(node, world)
            case ast.For(target=ast.Name(), orelse=[]):
                return self._for(node, world)
            case ast.Assign(targets=targets, value=value):
                worlds = self._value(value, world)
                for target in targets:
                    worlds = [(w, v) for before, v in worlds for w in self._put(target, before, v)]
                return [(after, (_ON, None)) for after, _ in worlds]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [
                    (after, (_ON, None))
                    for before, found in self._value(value, world)
                    for after in self._put(target, before, found)
                ]
            case ast.AugAssign(target=target, op=op, value=value):
                whole = ast.BinOp(_loaded(target), op, value)
                return [
                    (after, (_ON, None))
                    for before, found in self._value(whole, world)
                    for after in self._put(target, before, found)
                ]
        raise _not_followed(node)

    def _if(self, node: ast.If, world: World) -> _Ways:
        found: _Ways = []
        for before, condition in self._value(node.test, world):
            inside = before.because_of(condition.made_of)
            ways: _Ways = []
            for truth, body in ((True, node.body), (False, node.orelse)):
                if condition.may_be(truth):
                    ways += self._block(body, inside)
            found += _gone_on(node, ways, world, condition.made_of)
        return found

    def _for(self, node: ast.For, world: World) -> _Ways:
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[*given], keywords=[]) if given:
                bounds = given
            case _:
                raise _not_followed(node)
        assert isinstance(node.target, ast.Name)
        found: _Ways = []
        for before, values in self._values(bounds[:2], world):
            start, stop = (known(0), values[0]) if len(values) == 1 else values
            if len(bounds) > 2 or start.values is None or stop.values is None:
                raise _not_followed(node)
            made_of = start.made_of | stop.made_of
            ways = self._turns(node, before.because_of(made_of), start, stop)
            found += _gone_on(node, ways, world, made_of)
        return found

    def _turns(self, node: ast.For, world: World, start: Number, stop: Number) -> _Ways:
        assert isinstance(node.target, ast.Name)
        assert start.values is not None
        assert stop.values is not None
        ended: _Ways = []
        going = [world]
        for turn in range(min(start.values), max(stop.values)):
            following: _Ways = []
            is_sure = turn >= max(start.values) and turn < min(stop.values)
            for each in going:
                if not is_sure:
                    following.append((each, (_ON, None)))
                following += self._block(node.body, each.assigned(node.target.id, known(turn)))
            ended += [(w, (_ON, None)) for w, how in following if how[0] == _BREAK]
            ended += [way for way in following if way[1][0] == _RETURN]
            on = [(w, how) for w, how in following if how[0] in (_ON, _CONTINUE)]
            going = [w for w, _ in self._joined([(w, (_ON, None)) for w, _ in on])]
        return self._joined(ended + [(each, (_ON, None)) for each in going])

    def _put(self, target: ast.expr, world: World, value: Any) -> list[World]:
        match target:
            case ast.Name(id=name):
                return [world.assigned(name, value)]
            case ast.Tuple(elts=targets):
                worlds = [world]
                for each, item in zip(targets, value, strict=True):
                    worlds = [w for before in worlds for w in self._put(each, before, item)]
                return worlds
            case ast.Attribute(attr=name):
                return self.elements.write(world, name, (), value)
            case ast.Subscript(value=ast.Attribute(attr=name)):
                return [
                    after
                    for before, indices in self._values(_indices(target), world)
                    for after in self.elements.write(before, name, indices, value)
                ]
        raise _not_followed(target)

    # --- expressions -----------------------------------------------------------------------------

    def _values(self, nodes: list[ast.expr], world: World) -> Iterator[tuple[World, list[Any]]]:
        """Expressions one after the other."""
        if not nodes:
            yield world, []
            return
        for before, value in self._value(nodes[0], world):
            for after, rest in self._values(nodes[1:], before):
                yield after, [value, *rest]

    def _value(self, node: ast.expr, world: World) -> _Found:
        match node:
            case ast.Constant(value=bool() | int() as value):
                return [(world, known(value))]
            case ast.Name(id=name):
                return [(world, self._name(name, world))]
            case ast.Attribute():
                return self._attribute(node, world)
            case ast.Subscript(value=ast.Attribute(attr=name)) if (
                name in self.elements.layout.places
            ):
                return [
                    found
                    for before, indices in self._values(_indices(node), world)
                    for found in self.elements.read(before, name, indices)
                ]
            case ast.Tuple(elts=items):
                return [(after, tuple(values)) for after, values in self._values(items, world)]
            case ast.BinOp(left=left, op=op, right=right):
                return self._operated(op, [left, right], world)
            case ast.UnaryOp(op=op, operand=operand):
                return self._operated(op, [operand], world)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._operated(op, [left, right], world)
            case ast.Compare(left=left, ops=[first, *ops], comparators=[middle, *rest]):
                # What stands in the middle is looked at twice: it has no effect.
                both = [
                    ast.Compare(left, [first], [middle]),
                    ast.Compare(middle, ops, rest),
                ]
                return self._value(ast.BoolOp(ast.And(), list(both)), world)
            case ast.BoolOp(op=op, values=values):
                return self._joined_by(isinstance(op, ast.Or), values, world)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return [
                    (after, Number(found.values, found.made_of | condition.made_of))
                    for before, condition in self._value(test, world)
                    for truth, branch in ((True, body), (False, orelse))
                    if condition.may_be(truth)
                    for after, found in self._value(branch, before)
                ]
            case ast.Call():
                return self._call(node, world)
        raise _not_followed(node)

    def _operated(self, op: ast.AST, nodes: list[ast.expr], world: World) -> _Found:
        function = _OPERATORS.get(type(op))
        if function is None:
            raise TooIntricate(f"{type(op).__name__} is not understood")
        found = []
        for after, values in self._values(nodes, world):
            if isinstance(op, ast.In | ast.NotIn) and isinstance(values[1], tuple):
                values[1:] = values[1]
            result = computed(function, *values)
            if result.values is None and isinstance(op, _WITHOUT_RESULT):
                self.seen.raised_by |= result.made_of | after.decided_by
            found.append((after, result))
        return found

    def _joined_by(self, ends_with: bool, nodes: list[ast.expr], world: World) -> _Found:
        """`and` and `or`: the rest is looked at only where what stands before leaves it open."""
        found: _Found = []
        for after, value in self._value(nodes[0], world):
            if len(nodes) == 1:
                found.append((after, value))
                continue
            if value.may_be(ends_with):
                ended = (
                    value
                    if value.values is None
                    else Number(
                        frozenset(v for v in value.values if bool(v) is ends_with), value.made_of
                    )
                )
                found.append((after, ended))
            if value.may_be(not ends_with):
                found += [
                    (w, Number(v.values, v.made_of | value.made_of))
                    for w, v in self._joined_by(ends_with, nodes[1:], after)
                ]
        return merged(found)

    def _name(self, name: str, world: World) -> Any:
        assert self._source is not None
        if name in world.variables:
            return world.variables[name]
        thing = self._source.names.get(name, _BUILTINS.get(name))
        return known(thing) if isinstance(thing, int) else thing

    def _attribute(self, node: ast.Attribute, world: World) -> _Found:
        if not isinstance(node.value, ast.Name):
            raise _not_followed(node)
        owner = self._name(node.value.id, world)
        if owner is STATE and node.attr in self.elements.layout.sizes:
            return [(world, known(self.elements.layout.sizes[node.attr]))]
        if owner is STATE:
            return self.elements.read(world, node.attr, [])
        if owner is SETTINGS:
            return [(world, known(getattr(self.settings, node.attr)))]
        thing = getattr(owner, node.attr)
        return [(world, known(thing) if isinstance(thing, int) else thing)]

    def _call(self, node: ast.Call, world: World) -> _Found:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="bit_count"), args=[]):
                return [
                    (after, computed(int.bit_count, value))
                    for after, value in self._value(owner, world)
                ]
        ((_, called),) = self._value(node.func, world)
        found: _Found = []
        for after, values in self._values(node.args, world):
            if isinstance(called, types.FunctionType):
                source = source_of(called)
                given = dict(zip(source.parameters, values, strict=False))
                if node.keywords or len(given) < len(source.parameters):
                    raise TooIntricate(f"{source.name} is called with names or defaults")
                arguments = [given[name] for name in source.parameters]
                found += self._called(source, arguments, after)
            elif called in _BUILTINS.values():
                found.append((after, computed(called, *values)))
            else:
                raise _not_followed(node)
        return found


def _not_followed(node: ast.AST) -> TooIntricate:
    """The error for what stands in a rule."""
    line = getattr(node, "lineno", None)
    told = ast.unparse(node).partition("\n")[0]
    return TooIntricate(f"`{told}`{f' in line {line}' if line else ''} is not understood")


def _made_of_too(value: Any, fields: Fields) -> Any:
    """What a rule returns, these fields having decided which return it came to."""
    if isinstance(value, tuple):
        return tuple(_made_of_too(item, fields) for item in value)
    return Number(value.values, value.made_of | fields) if isinstance(value, Number) else value


def _indices(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _loaded(target: ast.expr) -> ast.expr:
    """What an augmented assignment reads."""
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=name):
            return ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
    raise _not_followed(target)


def _gone_on(node: ast.If | ast.For, ways: _Ways, before: World, decided_by: Fields) -> _Ways:
    """How a rule goes on behind a statement of which these fields decided what it does.

    They decide no more what comes after it, unless it may have ended more than itself. But each
    variable that it may have written is made of them from there on, also where it was not written.
    """
    if _leaves(node):
        return ways
    found: _Ways = []
    for world, how in ways:
        variables = dict(world.variables)
        for name in _assigned(node) & variables.keys():
            variables[name] = _made_of_too(variables[name], decided_by)
        found.append((replace(world, variables=variables, decided_by=before.decided_by), how))
    return found


@functools.cache
def _assigned(node: ast.stmt) -> frozenset[str]:
    """The variables that something in a statement writes."""
    return frozenset(
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


@functools.cache
def _leaves(node: ast.stmt) -> bool:
    """Whether something in a statement ends more than itself."""
    return any(
        isinstance(each, ast.Return | ast.Break | ast.Continue)
        for each in ast.walk(node)
        if each is not node
    )
