"""Abstract evaluation of expressions over value sets.

Each expression is made into a function once, and then asked in as many worlds as there are. Most
are `plain`: they read no state and call nothing, so that no world parts and nothing is written.
What is not understood is refused when it is come to, for settings may rule it out.
"""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from checker.compiler.source import Source, source_of
from checker.reduction.abstract_state import (
    SETTINGS,
    STATE,
    Number,
    TooIntricate,
    Value,
    World,
    computed,
    known,
    merged,
)
from checker.reduction.elements import Elements

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
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_WITHOUT_RESULT = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
"""They have none by nothing, or by less than nothing."""
_IS_ONE_OF: Mapping[type, Callable[..., bool]] = {
    ast.In: lambda value, *others: value in others,
    ast.NotIn: lambda value, *others: value not in others,
}
_BUILTINS = {"min": min, "max": max, "abs": abs, "int": int, "bool": bool}
Found = list[tuple[World, Value]]
"""The worlds after an expression, each with what it comes to there."""


class Looks(Protocol):
    """Who looks at a rule, as an expression sees it."""

    @property
    def settings(self) -> Any:
        """What `SETTINGS` stands for."""

    @property
    def elements(self) -> Elements:
        """What reads and writes the elements of the state."""

    def called(self, source: Source, given: Sequence[Value], world: World) -> Found:
        """What a function comes to that is called in a world."""


@dataclass(frozen=True, slots=True)
class Expression:
    """The function that an expression is made into; if it is plain, one that gives its value."""

    ways: Callable[[Looks, World], Found]
    plain: Callable[[Looks, World], Value] | None = None


def expression(node: ast.expr, source: Source) -> Expression:
    """What stands in the text of a function, as a function."""
    match node:
        case ast.Constant(value=bool() | int() as value):
            number = known(value)
            return _plain(lambda looks, world: number)
        case ast.Name(id=name):
            return _name(name, source)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return _attribute(_name(owner, source), name)
        case ast.Subscript(value=ast.Attribute(attr=name)):
            return _element(node, name, indices_of(node, source))
        case ast.Tuple(elts=items):
            return _operated(lambda *values: values, [expression(i, source) for i in items])
        case ast.BinOp(left=left, op=op, right=right):
            return _by_operator(node, op, [left, right], source)
        case ast.UnaryOp(op=op, operand=operand):
            return _by_operator(node, op, [operand], source)
        case ast.Compare(left=left, ops=[op], comparators=[ast.Tuple(elts=items)]) if (
            type(op) in _IS_ONE_OF
        ):
            is_one_of = _IS_ONE_OF[type(op)]
            operands = [expression(each, source) for each in (left, *items)]
            return _operated(lambda *values: computed(is_one_of, *values), operands)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _by_operator(node, op, [left, right], source)
        case ast.Compare(left=left, ops=[first, *ops], comparators=[middle, *rest]):
            # What stands in the middle is looked at twice: it has no effect.
            both = [ast.Compare(left, [first], [middle]), ast.Compare(middle, ops, rest)]
            return _joined_by(False, [expression(each, source) for each in both])
        case ast.BoolOp(op=op, values=values):
            return _joined_by(isinstance(op, ast.Or), [expression(v, source) for v in values])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _conditional(*(expression(each, source) for each in (test, body, orelse)))
        case ast.Call(func=ast.Attribute(value=owner, attr="bit_count"), args=[]):
            return _operated(_bit_count, [expression(owner, source)])
        case ast.Call(func=func, args=args, keywords=keywords):
            given = [expression(each, source) for each in args]
            return _call(node, expression(func, source), given, bool(keywords))
    return _refusing(node)


def indices_of(node: ast.Subscript, source: Source) -> list[Expression]:
    """What stands in the brackets."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [expression(each, source) for each in items]


def values_of(
    expressions: Sequence[Expression], looks: Looks, world: World
) -> list[tuple[World, list[Value]]]:
    """Expressions one after the other."""
    found: list[tuple[World, list[Value]]] = [(world, [])]
    for each in expressions:
        if each.plain is not None:
            for before, values in found:
                values.append(each.plain(looks, before))
        else:
            found = [
                (after, [*values, value])
                for before, values in found
                for after, value in each.ways(looks, before)
            ]
    return found


def _plain(value: Callable[[Looks, World], Value]) -> Expression:
    return Expression(lambda looks, world: [(world, value(looks, world))], value)


def not_followed(node: ast.AST) -> TooIntricate:
    """The error for what stands in a rule."""
    line = getattr(node, "lineno", None)
    described = ast.unparse(node).partition("\n")[0]
    return TooIntricate(f"`{described}`{f' in line {line}' if line else ''} is not understood")


def _refusing(node: ast.expr) -> Expression:
    def ways(looks: Looks, world: World) -> Found:
        raise not_followed(node)

    return Expression(ways)


def _name(name: str, source: Source) -> Expression:
    names = source.names

    def variable(looks: Looks, world: World) -> Value:
        return world.variables[name]

    def thing(looks: Looks, world: World) -> Value:
        return _number_or_thing(names.get(name, _BUILTINS.get(name)))

    return _plain(variable if name in source.variables else thing)


def _number_or_thing(thing: Any) -> Value:
    return known(thing) if isinstance(thing, int) else thing


def _attribute(owner: Expression, name: str) -> Expression:
    """Of the state, of the settings, or of a thing that a module has a name for."""
    whose = owner.plain
    assert whose is not None

    def ways(looks: Looks, world: World) -> Found:
        thing = whose(looks, world)
        if thing is STATE:
            size = looks.elements.layout.sizes.get(name)
            return [(world, known(size))] if size is not None else _read(looks, world, name)
        if thing is SETTINGS:
            return [(world, known(getattr(looks.settings, name)))]
        return [(world, _number_or_thing(getattr(thing, name)))]

    return Expression(ways)


def _read(looks: Looks, world: World, name: str) -> Found:
    return [*looks.elements.read(world, name, [])]


def _element(node: ast.expr, name: str, indices: list[Expression]) -> Expression:
    def ways(looks: Looks, world: World) -> Found:
        if name not in looks.elements.layout.places:
            raise not_followed(node)
        found: Found = []
        for before, values in values_of(indices, looks, world):
            found += looks.elements.read(before, name, values)
        return found

    return Expression(ways)


def _by_operator(
    node: ast.expr, op: ast.AST, operands_of: list[ast.expr], source: Source
) -> Expression:
    function = _OPERATORS.get(type(op))
    operands = [expression(each, source) for each in operands_of]
    if function is None:
        return _refusing(node)
    if not isinstance(op, _WITHOUT_RESULT):
        return _operated(lambda *values: computed(function, *values), operands)

    def ways(looks: Looks, world: World) -> Found:
        found: Found = []
        for after, values in values_of(operands, looks, world):
            result = computed(function, *values)
            if result.values is None:
                looks.elements.seen.raised_by |= result.made_of | after.decided_by
            found.append((after, result))
        return found

    return Expression(ways)


def _operated(function: Callable[..., Value], operands: list[Expression]) -> Expression:
    """What a function makes of the values of others."""
    plain = [each.plain for each in operands if each.plain is not None]
    if len(plain) == len(operands):
        return _plain(lambda looks, world: function(*[each(looks, world) for each in plain]))

    def ways(looks: Looks, world: World) -> Found:
        return [(after, function(*values)) for after, values in values_of(operands, looks, world)]

    return Expression(ways)


def _bit_count(number: Number) -> Number:
    return computed(int.bit_count, number)


def _joined_by(ends_with: bool, expressions: list[Expression]) -> Expression:
    """`and` and `or`: the rest is looked at only where what stands before leaves it open."""
    first = expressions[0].ways
    if len(expressions) == 1:
        return Expression(lambda looks, world: merged(first(looks, world)))
    rest = _joined_by(ends_with, expressions[1:]).ways

    def ways(looks: Looks, world: World) -> Found:
        found: Found = []
        for after, value in first(looks, world):
            if value.may_be(ends_with):
                found.append((after, value.where(ends_with)))
            if value.may_be(not ends_with):
                found += [
                    (last.as_decided_by(world.decided_by), made.made_of_too(value.made_of))
                    for last, made in rest(looks, after.because_of(value.made_of))
                ]
        return merged(found)

    return Expression(ways)


def _conditional(test: Expression, body: Expression, orelse: Expression) -> Expression:
    branches = ((True, body.ways), (False, orelse.ways))

    def ways(looks: Looks, world: World) -> Found:
        return [
            (after.as_decided_by(world.decided_by), made.made_of_too(condition.made_of))
            for before, condition in test.ways(looks, world)
            for truth, branch in branches
            if condition.may_be(truth)
            # What is called there may write.
            for after, made in branch(looks, before.because_of(condition.made_of))
        ]

    return Expression(ways)


def _call(
    node: ast.expr, function: Expression, given: list[Expression], has_names: bool
) -> Expression:
    def ways(looks: Looks, world: World) -> Found:
        ((_, called),) = function.ways(looks, world)
        found: Found = []
        for after, values in values_of(given, looks, world):
            if isinstance(called, types.FunctionType):
                source = source_of(called)
                if has_names or len(values) < len(source.parameters):
                    raise TooIntricate(f"{source.name} is called with names or defaults")
                found += looks.called(source, values[: len(source.parameters)], after)
            elif called in _BUILTINS.values():
                found.append((after, computed(called, *values)))
            else:
                raise not_followed(node)
        return found

    return Expression(ways)
