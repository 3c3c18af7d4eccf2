r"""Loops that gather: the least or greatest of values, or a set of them.

A loop that does nothing but `v = min(v, ...)`, `v = with_member(v, ...)` and the like, for some of
its turns, is an expression of the set of what it gathers.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from waterline.checker.compiler import ir
from waterline.checker.compiler.resolution import Known
from waterline.checker.tla.ends import Following
from waterline.checker.tla.environment import Environment
from waterline.checker.tla.forming import choose, let, plus, union, without
from waterline.checker.tla.kinds import MEMBERS, WHOLE, Members, Typed, as_kind
from waterline.checker.tla.tree import (
    Apply,
    Collection,
    Filter,
    Formula,
    If,
    Image,
    Local,
    Number,
    Tree,
)
from waterline.checker.tla.turns import counter_of, range_of

_NONE = Collection((), ordered=False)
_EXTREMES = {min: "MinOf", max: "MaxOf"}


@dataclass(frozen=True, slots=True)
class _Gathering:
    """An assignment in such a loop: the variable, how it changes, and the values that change it.

    `how` is `min`, `max`, or a function that adds a member to a set or removes one.
    """

    target: str
    how: object
    values: tuple[ir.Expression, ...]


def gather(rule: Following, node: ir.For, at: Environment) -> bool:
    """Follow a loop that does nothing but gather; False, and nothing is followed, for others."""
    found = _all_of(rule, node.body, at)
    if found is None or not isinstance(at.variables.get(found.target), Typed):
        return False
    names = [each for each in ast.walk(node.origin) if isinstance(each, ast.Name)]
    stores = [each for each in names if isinstance(each.ctx, ast.Store)]
    written = [each for each in stores if each.id == found.target]
    is_updated = found.how is _taking_out
    if len([n for n in names if n.id == found.target]) != len(written) * (1 if is_updated else 2):
        return False  # what is gathered depends on what was gathered before
    before = at.variables[found.target]
    assert isinstance(before, Typed)
    kind = before.kind if isinstance(before.kind, Members) else MEMBERS
    first = 0 if found.how in _EXTREMES else kind.first
    gathered = _set_of(rule, (node,), at.copy(), first)
    if gathered is None:
        return False
    if found.how in _EXTREMES:
        helper = rule.expressions.program.helper(_EXTREMES[found.how])
        among = union(Collection((as_kind(before, WHOLE),), ordered=False), gathered)
        value = Typed(Apply(helper, (among,)), WHOLE)
    else:
        adds = rule.expressions.program.sets.get(found.how) == "with_member"
        operation = union if adds else without
        value = Typed(operation(as_kind(before, kind), gathered), kind)
    at.variables[found.target] = rule.name_value(found.target, value, at, kept=rule.keeps())
    at.variables.pop(node.counter.name, None)
    return True


def _taking_out() -> None:
    """`v &= ~(1 << member)`"""


def _all_of(rule: Following, block: ir.Block, at: Environment) -> _Gathering | None:
    """The one gathering that all statements of the block do."""
    found = [_one_of(rule, node, at) for node in block]
    first = found[0] if found else None
    if first is None:
        return None
    if any(each is None or (each.target, each.how) != (first.target, first.how) for each in found):
        return None
    return first


def _one_of(rule: Following, node: ir.Statement, at: Environment) -> _Gathering | None:
    match node:
        case ir.If(then=then, otherwise=()) | ir.For(body=then):
            return _all_of(rule, then, at)
        case ir.Assign(targets=(ir.Name(name=name),), value=ir.Call(named=()) as call):
            known = rule.expressions.value(call.function, at)
            thing = known.thing if isinstance(known, Known) else None
            first, *others = call.arguments or (None,)
            if not (isinstance(first, ir.Name) and first.name == name and others):
                return None
            if thing in _EXTREMES or rule.expressions.program.changes_a_set(thing):
                return _Gathering(name, thing, tuple(others))
        case ir.Update(
            target=ir.Name(name=name), operator="&", value=ir.Unary(operator="~", operand=operand)
        ):
            return _Gathering(name, _taking_out, (operand,))
    return None


def _set_of(rule: Following, block: ir.Block, at: Environment, first: int) -> Tree | None:
    """Return the gathered values as a set; None for a loop that is not over all of a range."""
    gathered: Tree = _NONE
    for node in block:
        found = _set_of_one(rule, node, at, first)
        if found is None:
            return None
        gathered = union(gathered, found)
    return let(at.take(), gathered)


def _set_of_one(rule: Following, node: ir.Statement, at: Environment, first: int) -> Tree | None:
    match node:
        case ir.If(test=test, then=then):
            asked = rule.expressions.truth(test, at)
            inner = _set_of(rule, then, at.copy(), first)
            return None if inner is None else choose(asked, inner, _NONE)
        case ir.For():
            turns = range_of(rule, node, at)
            if turns.step != 1:
                return None
            counter = counter_of(rule, node, turns)
            inner_at = at.copy()
            inner_at.variables[node.counter.name] = Typed(counter, WHOLE)
            gathered = _set_of(rule, node.body, inner_at, first)
            return None if gathered is None else _union_over(counter, turns.domain, gathered)
        case ir.Update(value=ir.Unary(operand=operand)):
            return as_kind(rule.expressions.translate(operand, at), Members(first=first))
    found = _one_of(rule, node, at)
    assert found is not None
    trees = [plus(rule.expressions.number(each, at), Number(first)) for each in found.values]
    return Collection(tuple(trees), ordered=False)


def _union_over(counter: Local, domain: Tree, gathered: Tree) -> Tree:
    match gathered:
        case Collection(items=()):
            return _NONE
        case Collection(items=(member,)):
            return domain if member == counter else Image(counter, domain, member)
        case If(test=test, then=Collection(items=(member,)), otherwise=otherwise) if (
            otherwise == _NONE
        ):
            some = Filter(counter, domain, test)
            return some if member == counter else Image(counter, some, member)
        case If(test=test, then=then, otherwise=otherwise) if otherwise == _NONE:
            return Formula("UNION ", (Image(counter, Filter(counter, domain, test), then),))
    return Formula("UNION ", (Image(counter, domain, gathered),))
