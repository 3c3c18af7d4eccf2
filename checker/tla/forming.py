"""Constructors of TLA+ expressions that keep them short, and walks through them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from waterline.checker.tla.tree import (
    UNREACHABLE,
    Change,
    Collection,
    Definition,
    Element,
    Except,
    If,
    Infix,
    Junction,
    Let,
    Member,
    Not,
    Number,
    Outcome,
    Quantified,
    Record,
    Tree,
    Truth,
    Word,
)

_OPPOSITES = {"=": "#", "#": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPPOSITES |= {r"\in": r"\notin", r"\notin": r"\in"}


def negate(tree: Tree) -> Tree:  # noqa: PLR0911 - one for each form
    """The opposite of a truth."""
    match tree:
        case Truth(value=value):
            return Truth(not value)
        case Not(operand=operand):
            return operand
        case Infix(operator=operator, left=left, right=right) if operator in _OPPOSITES:
            return Infix(_OPPOSITES[operator], left, right)
        case Quantified(quantifier=quantifier, body=body) if (
            quantifier == r"\E"
            or isinstance(body, Not | Infix | Quantified)
            or (isinstance(body, Junction) and all(isinstance(e, Not | Infix) for e in body.items))
        ):
            other = r"\E" if quantifier == r"\A" else r"\A"
            return Quantified(other, tree.variable, tree.domain, negate(body))
        case Junction(operator=operator, items=items) if all(
            isinstance(item, Not) or (isinstance(item, Infix) and item.operator in _OPPOSITES)
            for item in items
        ):
            return join("\\/" if operator == "/\\" else "/\\", *map(negate, items))
        case Let(definitions=definitions, body=Infix(operator=operator) as body) if (
            operator in _OPPOSITES
        ):
            return let(definitions, negate(body))
    return Not(tree)


def join(operator: str, *items: Tree) -> Tree:
    """Return all of these, or one of these; they are evaluated in order, up to one that decides."""
    decides = Truth(operator == "\\/")
    kept: list[Tree] = []
    for item in items:
        parts = item.items if isinstance(item, Junction) and item.operator == operator else (item,)
        for part in parts:
            if part == decides:
                return decides
            if not isinstance(part, Truth) and part not in kept:
                kept.append(part)
    if operator == "\\/":
        kept = _one_of(kept)
    else:
        kept = [part for part in kept if not _is_said_by(part, kept)]
    if not kept:
        return negate(decides)
    return kept[0] if len(kept) == 1 else Junction(operator, tuple(kept))


def _is_unreachable(tree: Tree) -> bool:
    return tree == UNREACHABLE or (isinstance(tree, Let) and _is_unreachable(tree.body))


def _one_of(items: list[Tree]) -> list[Tree]:
    r"""Merge `a = "x" \/ a = "y"` into `a \in {"x", "y"}`."""
    found: list[Tree] = []
    for item in items:
        last = found[-1] if found else None
        match last, item:
            case Infix(left=left, right=right), Infix(operator="=", left=again, right=Word()) if (
                left == again
            ):
                if last.operator == "=" and isinstance(right, Word):
                    found[-1] = Infix(r"\in", left, Collection((right, item.right), ordered=False))
                    continue
                if last.operator == r"\in" and isinstance(right, Collection):
                    words = (*right.items, item.right)
                    found[-1] = Infix(r"\in", left, Collection(words, ordered=False))
                    continue
        found.append(item)
    return found


def _is_said_by(part: Tree, others: list[Tree]) -> bool:
    """True if `a = 2` among the others makes `a # 1` redundant."""
    match part:
        case Infix(operator="#", left=left, right=Word() | Number() as right):
            return any(
                isinstance(each, Infix)
                and (each.operator, each.left) == ("=", left)
                and isinstance(each.right, Word | Number)
                and each.right != right
                for each in others
            )
    return False


def choose(  # noqa: PLR0911, PLR0912 - one for each form
    test: Tree, then: Tree, otherwise: Tree
) -> Tree:
    """Return one of two. A choice of truths becomes a condition."""
    if _is_unreachable(then) or _is_unreachable(otherwise):
        return then if _is_unreachable(otherwise) else otherwise
    match test, then, otherwise:
        case Truth(value=True), _, _:
            return then
        case Truth(value=False), _, _:
            return otherwise
        case _, Truth(value=True), Truth(value=False):
            return test
        case _, Truth(value=False), Truth(value=True):
            return negate(test)
        case _, Truth(value=True), _:
            return join("\\/", test, otherwise)
        case _, Truth(value=False), _:
            return join("/\\", negate(test), otherwise)
        case _, _, Truth(value=False):
            return join("/\\", test, then)
        case _, _, Truth(value=True):
            return join("\\/", negate(test), then)
        case _ if then == otherwise:
            return then
        case _, _, If(test=again) if again == test:
            return choose(test, then, otherwise.otherwise)
        case _, If(otherwise=last), _ if last == otherwise:
            return choose(join("/\\", test, then.test), then.then, otherwise)
        case _, Junction(operator="/\\"), _ if _ends_with(then, otherwise):
            return join("/\\", Infix("=>", test, _before(then, otherwise)), otherwise)
        case Not(operand=operand), _, _:
            return If(operand, otherwise, then)
    return If(test, then, otherwise)


def conjuncts(tree: Tree) -> tuple[Tree, ...]:
    r"""The items of a list of `/\`, or the one condition that it is."""
    return tree.items if isinstance(tree, Junction) and tree.operator == "/\\" else (tree,)


def _ends_with(tree: Junction, end: Tree) -> bool:
    last = conjuncts(end)
    return len(last) < len(tree.items) and tree.items[-len(last) :] == last


def _before(tree: Junction, end: Tree) -> Tree:
    return join("/\\", *tree.items[: -len(conjuncts(end))])


def in_order(tree: Tree) -> Tree:
    r"""Return a condition of a step in a form that makes TLC evaluate no more than Python does.

    TLC follows both sides of `a \/ b` in a step: it evaluates `b` even if `a` is true. It does not
    for `~a => b`. For `\E` it makes a step for each element that satisfies the rest, even if the
    steps are equal; a comparison with TRUE is only a condition.
    """
    match tree:
        case Junction(operator="\\/", items=(*others, last)):
            return Infix("=>", negate(join("\\/", *others)), in_order(last))
        case Junction(items=items):
            return join("/\\", *map(in_order, items))
        case Let(definitions=definitions, body=body):
            return let(definitions, in_order(body))
        case If(test=test, then=then, otherwise=otherwise):
            return If(test, in_order(then), in_order(otherwise))
        case Quantified(quantifier=r"\E"):
            return Infix("=", tree, Truth(True))
    return tree


def let(definitions: list[Definition] | tuple[Definition, ...], body: Tree) -> Tree:
    """The body with definitions around it, if there are any."""
    if not definitions:
        return body
    if isinstance(body, Let):
        return Let((*definitions, *body.definitions), body.body)
    return Let(tuple(definitions), body)


def member(record: Tree, name: str) -> Tree:
    """`record.name`, as what it is where the record is written out."""
    match record:
        case Record(members=members):
            return dict(members)[name]
        case If(test=test, then=then, otherwise=otherwise):
            return choose(test, member(then, name), member(otherwise, name))
        case Let(definitions=definitions, body=body):
            return let(definitions, member(body, name))
    return Member(record, name)


def element(function: Tree, *indices: Tree) -> Tree:
    """`function[i][j]`"""
    for index in indices:
        function = Element(function, index)
    return function


def with_change(function: Tree, path: tuple[Tree, ...], value: Tree) -> Tree:
    """The function with another value at a place, in place of earlier ones there."""
    if isinstance(function, Except):
        kept = [each for each in function.changes if each.path[: len(path)] != path]
        return Except(function.function, (*kept, Change(path, value)))
    return Except(function, (Change(path, value),))


def interval(first: Tree, last: Tree) -> Tree:
    """`first..last`"""
    return Infix("..", first, last)


_NONE = Collection((), ordered=False)


def union(left: Tree, right: Tree) -> Tree:
    """The set of what is in one or the other."""
    if _NONE in (left, right):
        return right if left == _NONE else left
    return left if left == right else Infix(r"\union", left, right)


def both(left: Tree, right: Tree) -> Tree:
    """The set of what is in both."""
    if _NONE in (left, right):
        return _NONE
    return left if left == right else Infix(r"\intersect", left, right)


def without(left: Tree, right: Tree) -> Tree:
    """The set of what is in the first alone."""
    if left in (_NONE, right):
        return _NONE
    return left if right == _NONE else Infix("\\", left, right)


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


def minus(left: Tree, right: Tree) -> Tree:  # noqa: PLR0911 - one for each form
    """The difference, computed where both are known, or one is 0."""
    if left == right:
        return Number(0)
    match left, right:
        case Number(value=one), Number(value=other):
            return Number(one - other)
        case _, Number(value=0):
            return left
        case _, Number(value=value) if value < 0:
            return plus(left, Number(-value))
        case Infix(operator="+", left=first, right=last), _ if last == right:
            return first
        case Infix(operator="+", left=first, right=Number(value=one)), Number(value=other):
            return plus(first, Number(one - other))
        case Infix(operator="-", left=first, right=Number(value=one)), Number(value=other):
            return minus(first, Number(one + other))
    return Infix("-", left, right)


# --- traversal -----------------------------------------------------------------------------------

_SCALARS = (str, int, bool, type(None))


def map_tree(  # noqa: PLR0911 - one for each form
    tree: Any, change: Callable[[Any], Any]
) -> Any:
    """The tree with each of its direct subtrees changed."""
    if isinstance(tree, Outcome):
        return tree
    values = {}
    for each in dataclasses.fields(tree):
        value = getattr(tree, each.name)
        values[each.name] = _map_value(value, change)
    if isinstance(tree, Not):
        return negate(values["operand"])
    if isinstance(tree, Junction):
        return join(tree.operator, *values["items"])
    if isinstance(tree, If):
        return choose(**values)
    if isinstance(tree, Let):
        return let(values["definitions"], values["body"])
    if isinstance(tree, Member):
        return member(values["record"], values["name"])
    return type(tree)(**values)


def _map_value(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, tuple):
        return tuple(_map_value(item, change) for item in value)
    if isinstance(value, Definition | Change):
        return map_tree(value, change)
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
