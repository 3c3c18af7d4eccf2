"""Abstract execution of statements, path by path.

Each block is made into a function once. Where a condition may be true and false, both ways are
gone; worlds that have become alike are put together again.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from checker.compiler.source import Source
from checker.reduction.abstract_state import (
    Fields,
    Number,
    TooIntricate,
    Value,
    World,
    known,
    made_of_too,
    merged,
)
from checker.reduction.expressions import (
    Expression,
    Found,
    Looks,
    expression,
    indices_of,
    not_followed,
    values_of,
)

WORLDS_MAX = 4000
"""So many ways through one rule are distinguished; a rule with more is given up."""
_ON, _BREAK, _CONTINUE, _RETURN = range(4)
_Ways = list[tuple[World, int, Value]]
"""The worlds after a statement, each with how it goes on, and what is returned."""
_Statement = Callable[[Looks, World], _Ways]
_Assign = Callable[[Looks, World, Value], list[World]]


@functools.cache
def body_of(source: Source) -> Callable[[Looks, World], Found]:
    """A function as one: the worlds in which it ends, each with what it returns."""
    block = _block(source.tree.body, source)

    def ends(looks: Looks, world: World) -> Found:
        return [(after, value) for after, _, value in block(looks, world)]

    return ends


def _block(statements: list[ast.stmt], source: Source) -> _Statement:
    """Statements in order."""
    steps = [_statement(each, source) for each in statements]

    def ways(looks: Looks, world: World) -> _Ways:
        ended: _Ways = []
        going = [world]
        for step in steps:
            if len(going) == 1:
                following = _joined(step(looks, going[0]))
            else:
                following = _joined([way for each in going for way in step(looks, each)])
            going = []
            for way in following:
                if way[1] == _ON:
                    going.append(way[0])
                else:
                    ended.append(way)
        on: _Ways = [(after, _ON, None) for after in going]
        return _joined(ended + on) if ended else on

    return ways


def _joined(ways: _Ways) -> _Ways:
    """The same, those together that go on alike in worlds that are alike."""
    if len(ways) < 2:
        return ways
    found: _Ways = []
    for how in (_ON, _BREAK, _CONTINUE, _RETURN):
        of_kind = [(world, value) for world, kind, value in ways if kind == how]
        found += [(world, how, value) for world, value in merged(of_kind)]
    if len(found) > WORLDS_MAX:
        raise TooIntricate(f"it has more than {WORLDS_MAX} ways through it")
    return found


def _statement(node: ast.stmt, source: Source) -> _Statement:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return lambda looks, world: [(world, _ON, None)]
        case ast.Expr(value=value):
            return _assigned([], expression(value, source))
        case ast.Return(value=None):
            return lambda looks, world: [(world, _RETURN, None)]
        case ast.Return(value=ast.expr() as value):
            result = expression(value, source).ways
            return lambda looks, world: [(w, _RETURN, v) for w, v in result(looks, world)]
        case ast.Break():
            return lambda looks, world: [(world, _BREAK, None)]
        case ast.Continue():
            return lambda looks, world: [(world, _CONTINUE, None)]
        case ast.If():
            return _if(node, source)
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Name(id="range"), args=[_, *_] as bounds, keywords=[]),
            orelse=[],
        ):
            return _for(node, name, bounds, source)
        case ast.Assign(targets=targets, value=value):
            return _assigned([_put(t, source) for t in targets], expression(value, source))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return _assigned([_put(target, source)], expression(value, source))
        case ast.AugAssign(target=target, op=op, value=value):
            whole = ast.BinOp(_loaded(target), op, value)
            return _assigned([_put(target, source)], expression(whole, source))

    def refused(looks: Looks, world: World) -> _Ways:
        raise not_followed(node)

    return refused


def _assigned(targets: list[_Assign], value: Expression) -> _Statement:
    """What an expression comes to is put in all of these places."""

    def ways(looks: Looks, world: World) -> _Ways:
        worlds = value.ways(looks, world)
        for put in targets:
            worlds = [(w, v) for before, v in worlds for w in put(looks, before, v)]
        return [(after, _ON, None) for after, _ in worlds]

    return ways


def _put(target: ast.expr, source: Source) -> _Assign:
    """One place that a value is put in."""
    match target:
        case ast.Name(id=variable):
            return lambda looks, world, value: [world.assigned(variable, value)]
        case ast.Tuple(elts=targets):
            each = [_put(item, source) for item in targets]

            def unpacked(looks: Looks, world: World, value: Value) -> list[World]:
                worlds = [world]
                for put, item in zip(each, value, strict=True):
                    worlds = [w for before in worlds for w in put(looks, before, item)]
                return worlds

            return unpacked
        case ast.Attribute(attr=name):
            return lambda looks, world, value: looks.elements.write(world, name, (), value)
        case ast.Subscript(value=ast.Attribute(attr=name)):
            indices = indices_of(target, source)

            def written(looks: Looks, world: World, value: Value) -> list[World]:
                return [
                    after
                    for before, at in values_of(indices, looks, world)
                    for after in looks.elements.write(before, name, at, value)
                ]

            return written

    def refused(looks: Looks, world: World, value: Value) -> list[World]:
        raise not_followed(target)

    return refused


def _if(node: ast.If, source: Source) -> _Statement:
    test = expression(node.test, source).ways
    branches = (True, _block(node.body, source)), (False, _block(node.orelse, source))
    past = _past(node)

    def ways(looks: Looks, world: World) -> _Ways:
        found: _Ways = []
        for before, condition in test(looks, world):
            inside = before.because_of(condition.made_of)
            for truth, block in branches:
                if condition.may_be(truth):
                    found += block(looks, inside)
        return past(found, world.decided_by)

    return ways


def _for(node: ast.For, name: str, bounds: list[ast.expr], source: Source) -> _Statement:
    first_two = [expression(each, source) for each in bounds[:2]]
    block = _block(node.body, source)
    past = _past(node)

    def ways(looks: Looks, world: World) -> _Ways:
        found: _Ways = []
        for before, values in values_of(first_two, looks, world):
            start, stop = (known(0), values[0]) if len(values) == 1 else values
            if len(bounds) > 2 or start.values is None or stop.values is None:
                raise not_followed(node)
            inside = before.because_of(start.made_of | stop.made_of)
            found += _turns(block, name, looks, inside, start, stop)
        return past(found, world.decided_by)

    return ways


def _turns(
    block: _Statement, name: str, looks: Looks, world: World, start: Number, stop: Number
) -> _Ways:
    assert start.values is not None
    assert stop.values is not None
    ended: _Ways = []
    going = [world]
    for turn in range(min(start.values), max(stop.values)):
        is_sure = turn >= max(start.values) and turn < min(stop.values)
        on: _Ways = []
        broken: _Ways = []
        returned: _Ways = []
        for each in going:
            if not is_sure:
                on.append((each, _ON, None))
            for way in block(looks, each.assigned(name, known(turn))):
                after, how, _ = way
                if how == _BREAK:
                    broken.append((after, _ON, None))
                elif how == _RETURN:
                    returned.append(way)
                else:
                    on.append((after, _ON, None))
        ended += broken + returned
        going = [after for after, _, _ in _joined(on)]
    return _joined(ended + [(each, _ON, None) for each in going])


def _past(node: ast.stmt) -> Callable[[_Ways, Fields], _Ways]:
    """Past a statement that ends itself alone: what decided in it, decided what it assigned.

    Of all variables that it may assign, whichever way it went: they are what they are because it
    did not go another way.
    """
    inner = [each for each in ast.walk(node) if each is not node]
    if any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in inner):
        return lambda ways, decided_by: ways
    assigned = frozenset(
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )

    def past(world: World, decided_by: Fields) -> World:
        because = world.decided_by - decided_by
        if not because:
            return world
        variables = world.variables
        if not assigned.isdisjoint(variables):
            variables = {
                name: made_of_too(value, because) if name in assigned else value
                for name, value in variables.items()
            }
        return World(world.cells, variables, world.written, world.read, decided_by, world.changed)

    return lambda ways, decided_by: [(past(w, decided_by), how, v) for w, how, v in ways]


def _loaded(target: ast.expr) -> ast.expr:
    """What an augmented assignment reads."""
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=name):
            return ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
    return target
