"""Trees of TLA+ expressions, and the constructors that keep them short.

Names that an expression binds are `Local`s, each with a number of its own; `checker.tla.naming`
gives them their names at the end, when it is known which are taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Atom:
    """A name of the module."""

    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A name that is bound within an expression: `base`, or the like."""

    base: str
    number: int


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number."""

    value: int


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class Apply:
    """`operator(arguments)`"""

    operator: Atom | Local
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """`function[index]`"""

    function: Tree
    index: Tree


@dataclass(frozen=True, slots=True)
class Member:
    """`record.name`"""

    record: Tree
    name: str


@dataclass(frozen=True, slots=True)
class Infix:
    """`left operator right`"""

    operator: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Minus:
    """`-operand`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Not:
    """`~operand`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Junction:
    r"""A list of `/\` or `\/`, of two items or more."""

    operator: str
    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`IF test THEN then ELSE otherwise`"""

    test: Tree
    then: Tree
    otherwise: Tree


@dataclass(frozen=True, slots=True)
class Definition:
    """`name(parameters) == value` in a LET. What the model names itself is to be `kept`."""

    name: Local
    parameters: tuple[Local, ...]
    value: Tree
    kept: bool = False
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Let:
    """`LET definitions IN body`"""

    definitions: tuple[Definition, ...]
    body: Tree


@dataclass(frozen=True, slots=True)
class Quantified:
    r"""`\A variable \in domain : body`, or `\E`."""

    quantifier: str
    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Mapped:
    r"""`[variable \in domain |-> body]`"""

    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Filter:
    r"""`{variable \in domain : body}`"""

    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Change:
    """`![path] = value`; the path has an index for each dimension."""

    path: tuple[Tree, ...]
    value: Tree


@dataclass(frozen=True, slots=True)
class Except:
    """`[function EXCEPT changes]`"""

    function: Tree
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Functions:
    """`[domain -> range]`"""

    domain: Tree
    range: Tree


@dataclass(frozen=True, slots=True)
class Collection:
    """`{items}`, or `<<items>>`."""

    items: tuple[Tree, ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Record:
    """`[name |-> value, ...]`"""

    members: tuple[tuple[str, Tree], ...]


@dataclass(frozen=True, slots=True)
class Primed:
    """`operand'`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Unchanged:
    """`UNCHANGED <<names>>`"""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A temporal operator and its operands, as `left ~> right` or `<>operand`."""

    operator: str
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a rule ends: what it returns, if anything, and what it has changed.

    No expression of TLA+, but what stands for one until it is known how all of them end.
    """

    value: Any
    changed: tuple[tuple[Any, Any], ...] = ()


Tree = (
    Atom
    | Local
    | Number
    | Truth
    | Word
    | Apply
    | Element
    | Member
    | Infix
    | Minus
    | Not
    | Junction
    | If
    | Let
    | Quantified
    | Mapped
    | Filter
    | Except
    | Functions
    | Collection
    | Record
    | Primed
    | Unchanged
    | Formula
    | Outcome
)
ATOMIC = Atom | Local | Number | Truth | Word
_OPPOSITES = {"=": "#", "#": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPPOSITES |= {r"\in": r"\notin", r"\notin": r"\in"}


# --- constructors --------------------------------------------------------------------------------


def negated(tree: Tree) -> Tree:  # noqa: PLR0911 - one for each form
    """The opposite of a truth."""
    match tree:
        case Truth(value=value):
            return Truth(not value)
        case Not(operand=operand):
            return operand
        case Infix(operator=operator, left=left, right=right) if operator in _OPPOSITES:
            return Infix(_OPPOSITES[operator], left, right)
        case Quantified(quantifier=quantifier, body=Not() | Infix() as body):
            other = r"\E" if quantifier == r"\A" else r"\A"
            return Quantified(other, tree.variable, tree.domain, negated(body))
        case Quantified(body=Junction(operator=operator, items=items)) if all(
            isinstance(item, Not | Infix) for item in items
        ):
            other = r"\E" if tree.quantifier == r"\A" else r"\A"
            return Quantified(other, tree.variable, tree.domain, negated(tree.body))
        case Quantified(quantifier=quantifier, body=Quantified() as body):
            other = r"\E" if quantifier == r"\A" else r"\A"
            return Quantified(other, tree.variable, tree.domain, negated(body))
        case Junction(operator=operator, items=items) if all(
            isinstance(item, Not) or (isinstance(item, Infix) and item.operator in _OPPOSITES)
            for item in items
        ):
            return joined("\\/" if operator == "/\\" else "/\\", *map(negated, items))
        case Quantified(quantifier=r"\E"):
            return Quantified(r"\A", tree.variable, tree.domain, negated(tree.body))
    return Not(tree)


def joined(operator: str, *items: Tree) -> Tree:
    """All of these, or one of these; they are looked at in order, up to one that decides."""
    decides = Truth(operator == "\\/")
    kept: list[Tree] = []
    for item in items:
        parts = item.items if isinstance(item, Junction) and item.operator == operator else (item,)
        for part in parts:
            if part == decides:
                return decides
            if not isinstance(part, Truth):
                kept.append(part)
    if not kept:
        return negated(decides)
    return kept[0] if len(kept) == 1 else Junction(operator, tuple(kept))


def chosen(test: Tree, then: Tree, otherwise: Tree) -> Tree:  # noqa: PLR0911 - one for each form
    """One of two. A choice of truths becomes a condition."""
    match test, then, otherwise:
        case Truth(value=True), _, _:
            return then
        case Truth(value=False), _, _:
            return otherwise
        case _, Truth(value=True), Truth(value=False):
            return test
        case _, Truth(value=False), Truth(value=True):
            return negated(test)
        case _, Truth(value=True), _:
            return joined("\\/", test, otherwise)
        case _, Truth(value=False), _:
            return joined("/\\", negated(test), otherwise)
        case _, _, Truth(value=False):
            return joined("/\\", test, then)
        case _, _, Truth(value=True):
            return joined("\\/", negated(test), then)
        case _ if then == otherwise:
            return then
        case Not(operand=operand), _, _:
            return If(operand, otherwise, then)
    return If(test, then, otherwise)


def let(definitions: list[Definition] | tuple[Definition, ...], body: Tree) -> Tree:
    """The body with definitions around it, if there are any."""
    if not definitions:
        return body
    if isinstance(body, Let):
        return Let((*definitions, *body.definitions), body.body)
    return Let(tuple(definitions), body)


def element(function: Tree, *indices: Tree) -> Tree:
    """`function[i][j]`"""
    for index in indices:
        function = Element(function, index)
    return function


def changed(function: Tree, path: tuple[Tree, ...], value: Tree) -> Tree:
    """The function with another value at a place, in place of earlier ones there."""
    if isinstance(function, Except):
        kept = [each for each in function.changes if each.path[: len(path)] != path]
        return Except(function.function, (*kept, Change(path, value)))
    return Except(function, (Change(path, value),))


def interval(first: Tree, last: Tree) -> Tree:
    """`first..last`"""
    return Infix("..", first, last)


def plus(left: Tree, right: Tree) -> Tree:  # noqa: PLR0911 - one for each form
    """The sum, computed where both are known, or one is 0."""
    match left, right:
        case Number(value=one), Number(value=other):
            return Number(one + other)
        case Number(value=0), _:
            return right
        case _, Number(value=0):
            return left
        case _, Number(value=value) if value < 0:
            return minus(left, Number(-value))
        case Infix(operator="-", left=first, right=Number(value=one)), Number(value=other):
            return plus(first, Number(other - one))
        case Infix(operator="+", left=first, right=Number(value=one)), Number(value=other):
            return plus(first, Number(other + one))
    return Infix("+", left, right)


def minus(left: Tree, right: Tree) -> Tree:
    """The difference, computed where both are known, or one is 0."""
    match left, right:
        case Number(value=one), Number(value=other):
            return Number(one - other)
        case _, Number(value=0):
            return left
        case _, Number(value=value) if value < 0:
            return plus(left, Number(-value))
        case Infix(operator="+", left=first, right=Number(value=one)), Number(value=other):
            return plus(first, Number(one - other))
        case Infix(operator="-", left=first, right=Number(value=one)), Number(value=other):
            return minus(first, Number(one + other))
    return Infix("-", left, right)


# --- traversal -----------------------------------------------------------------------------------

_SCALARS = (str, int, bool, type(None))


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with each of its direct subtrees changed."""
    if isinstance(tree, Outcome):
        return tree
    values = {}
    for each in dataclasses.fields(tree):
        value = getattr(tree, each.name)
        values[each.name] = _changed(value, change)
    if isinstance(tree, Not):
        return negated(values["operand"])
    if isinstance(tree, Junction):
        return joined(tree.operator, *values["items"])
    if isinstance(tree, If):
        return chosen(**values)
    if isinstance(tree, Let):
        return let(values["definitions"], values["body"])
    return type(tree)(**values)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, tuple):
        return tuple(_changed(item, change) for item in value)
    if isinstance(value, Definition | Change):
        return mapped(value, change)
    return change(value)


def subtrees(tree: Any) -> Iterator[Any]:
    """The direct subtrees."""
    if isinstance(tree, Outcome):
        return
    for each in dataclasses.fields(tree):
        yield from _within(getattr(tree, each.name))


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, _SCALARS):
        return
    if isinstance(value, tuple):
        for item in value:
            yield from _within(item)
    elif isinstance(value, Definition | Change):
        yield from subtrees(value)
    else:
        yield value


def everything_in(tree: Tree) -> Iterator[Tree]:
    """The tree and all within it."""
    waiting: list[Any] = [tree]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += subtrees(found)
