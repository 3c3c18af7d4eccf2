r"""Loops of rules: as quantifiers, sums and functions where they say no more than these.

A loop that returns the same from each turn asks whether there is such a turn, `\E`. One that adds
up is a sum or a cardinality. One that treats each element of a field by itself is a function of the
index. Any other is an operator that calls itself, turn by turn.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from waterline.checker.compiler import ir
from waterline.checker.tla.ends import Ends, Following, leaves, value_of
from waterline.checker.tla.environment import Environment, Level, NotIndependent, Role
from waterline.checker.tla.forming import choose, interval, join, let, minus, plus, with_change
from waterline.checker.tla.gathered import gather
from waterline.checker.tla.kinds import MEMBERS, TRUTHS, WHOLE, Typed, as_kind
from waterline.checker.tla.tidying import own_copy
from waterline.checker.tla.tree import (
    UNREACHABLE,
    Apply,
    Atom,
    Collection,
    Definition,
    Filter,
    If,
    Infix,
    Local,
    Mapped,
    Number,
    Outcome,
    Quantified,
    Tree,
    Truth,
)
from waterline.checker.tla.turns import Loop, Range, counter_of, is_empty, range_of, turn_by_turn


def follow(rule: Following, node: Loop, at: Environment) -> None:
    """Follow a loop that does not end the function."""
    if isinstance(node, ir.For):
        found = range_of(rule, node, at)
        if is_empty(rule, found):
            return
        if found.step == 1 and (
            _add_up(rule, node, at) or gather(rule, node, at) or _map(rule, node, found, at)
        ):
            return
    turn_by_turn(rule, node, at)


def left(
    rule: Following, node: Loop, rest: Sequence[ir.Statement], at: Environment, ends: Ends
) -> Tree:
    """Translate a loop that may end the function, with the statements after it."""
    if isinstance(node, ir.For):
        found = range_of(rule, node, at)
        if is_empty(rule, found):
            return rule.run(rest, at, ends)
        same = _returned_by_all(node.body)
        if found.step == 1 and same is not None:
            tree = _asks(rule, node, found, at)
            if tree is not None:
                before = at.take()
                there = ends.returned(at.copy(), rule.expressions.translate(same, at))
                return let(before, choose(tree, there, rule.run(rest, at.copy(), ends)))
        if abs(found.step) == 1 and _returns_values(node):
            first = _first(rule, node, found, rest, at, ends)
            if first is not None:
                return first
    loop = rule.turns(node, at)

    def after(end: Environment) -> Tree:
        return rule.run(rest, loop.afterwards(end), ends)

    before = at.take()
    return let(before, loop.write(lambda again: Ends(again, ends.returned, after, again), after))


# --- quantifiers ---------------------------------------------------------------------------------


def _returns_values(node: ir.For) -> bool:
    """True if a loop looks for a turn that has something to return, and ends in no other way."""
    returned = _returns(node.body)
    return bool(returned) and None not in returned


def _first(
    rule: Following,
    node: ir.For,
    found: Range,
    rest: Sequence[ir.Statement],
    at: Environment,
    ends: Ends,
) -> Tree | None:
    """The first such turn, and what comes where there is none."""
    if found.step < 0:
        domain = interval(plus(found.stop, Number(1)), found.start)
        found = Range(found.start, found.stop, 1, domain)
        extreme = "MaxOf"
    else:
        extreme = "MinOf"
    asked = _asks(rule, node, found, at)
    if not isinstance(asked, Quantified):
        return None
    program = rule.expressions.program
    before = at.take()
    them, first = program.local("found"), program.local(node.counter.name)
    among = Definition(them, (), Filter(asked.variable, asked.domain, asked.body), kept=True)
    inner = at.copy()
    inner.define(first, Apply(program.helper(extreme), (them,)))
    inner.variables[node.counter.name] = Typed(first, WHOLE)

    def on_return(end: Environment, value: Typed | None) -> Tree:
        end.variables = dict(at.variables)
        return ends.returned(end, value)

    def goes_on(end: Environment) -> Tree:
        return UNREACHABLE

    there = rule.run(node.body, inner, Ends(goes_on, on_return, None, goes_on))
    is_none = Infix("=", them, Collection((), ordered=False))
    return let([*before, among], choose(is_none, rule.run(rest, at.copy(), ends), there))


def _returned_by_all(block: ir.Block) -> ir.Expression | None:
    """The one constant that all turns return which return anything; None if there is none."""
    found = list(_returns(block))
    values = {value.value if isinstance(value, ir.Constant) else None for value in found}
    return found[0] if len(values) == 1 and None not in values else None


def _returns(block: ir.Block) -> list[ir.Expression | None]:
    found: list[ir.Expression | None] = []
    for node in block:
        match node:
            case ir.Return(value=value):
                found.append(value)
            case ir.If(then=then, otherwise=otherwise):
                found += _returns((*then, *otherwise))
            case ir.For(body=body) | ir.While(body=body):
                found += _returns(body)
            case ir.Break():
                found.append(None)
    return found


def _asks(rule: Following, node: ir.For, found: Range, at: Environment) -> Tree | None:
    """True if there is a turn that returns; None where turns leave something to the next."""
    inner = at.copy()
    counter = counter_of(rule, node, found)
    inner.variables[node.counter.name] = Typed(counter, WHOLE)
    passed: list[Environment] = []

    def goes_on(end: Environment) -> Tree:
        passed.append(end.copy())
        return Outcome(Typed(Truth(False), TRUTHS))

    body = rule.run(
        node.body,
        inner,
        Ends(goes_on, lambda end, value: Outcome(Typed(Truth(True), TRUTHS)), None, goes_on),
    )
    for end in passed:
        if end.fields != at.fields or any(
            end.variables.get(name) != value
            for name, value in at.variables.items()
            if name != node.counter.name
        ):
            return None
    tree = as_kind(value_of(body), TRUTHS)
    if isinstance(tree, Truth) and not tree.value:
        return tree
    return Quantified(r"\E", counter, found.domain, tree)


# --- sums ----------------------------------------------------------------------------------------


def _add_up(rule: Following, node: ir.For, at: Environment) -> bool:
    """Follow a loop that does nothing but add to one variable."""
    target = _added_to(node.body)
    if target is None or not isinstance(at.variables.get(target), Typed):
        return False
    if _mentions(node, target):
        return False
    total = _total(rule, node, at)
    if total is None:
        return False
    before = at.variables[target]
    assert isinstance(before, Typed)
    summed = total
    if total.kind != MEMBERS or before.tree != Number(0):
        summed = Typed(plus(as_kind(before, WHOLE), as_kind(total, WHOLE)), WHOLE)
    at.variables[target] = rule.name_value(target, summed, at, kept=rule.keeps())
    at.variables.pop(node.counter.name, None)
    return True


def _added_to(block: ir.Block) -> str | None:
    match block:
        case (ir.Update(target=ir.Name(name=name), operator="+"),):
            return name
        case (ir.If(then=then, otherwise=()),):
            return _added_to(then)
        case (ir.For(body=body),):
            return _added_to(body)
    return None


def _mentions(node: ir.For, name: str) -> bool:
    """True if what is added depends on the sum so far."""
    names = [n for n in ast.walk(node.origin) if isinstance(n, ast.Name) and n.id == name]
    return len(names) > 1


def _total(rule: Following, node: ir.For, at: Environment) -> Typed | None:
    found = range_of(rule, node, at)
    if found.step != 1:
        return None
    program = rule.expressions.program
    inner = at.copy()
    counter = counter_of(rule, node, found)
    inner.variables[node.counter.name] = Typed(counter, WHOLE)
    each = _addend(rule, node.body, inner)
    if each is None or inner.definitions:
        return None
    if each.kind == MEMBERS:
        chosen_ones = _members(counter, found, each.tree)
        if chosen_ones is not None:
            return Typed(chosen_ones, MEMBERS)
    counts = each.tree if each.kind == TRUTHS else None
    if isinstance(each.tree, If) and each.tree.then == Number(1):
        counts = each.tree.test if each.tree.otherwise == Number(0) else None
    if counts is not None:
        program.library.add("Cardinality")
        members = Filter(counter, found.domain, counts)
        return Typed(Apply(Atom("Cardinality"), (members,)), WHOLE)
    values = Mapped(counter, found.domain, as_kind(each, WHOLE))
    return Typed(Apply(program.helper("Sum"), (values,)), WHOLE)


def _members(counter: Local, found: Range, tree: Tree) -> Tree | None:
    """The set of the numbers whose bits are summed."""
    empty = Collection((), ordered=False)
    match tree:
        case Collection(items=(member,)) if member == counter:
            return found.domain
        case If(test=test, then=Collection(items=(member,)), otherwise=otherwise) if (
            member == counter and otherwise == empty
        ):
            return Filter(counter, found.domain, test)
    return None


def _addend(  # noqa: PLR0911 - one for each form
    rule: Following, block: ir.Block, at: Environment
) -> Typed | None:
    """Return the value that a turn adds."""
    (node,) = block
    match node:
        case ir.Update(value=value):
            return rule.expressions.translate(value, at)
        case ir.If(test=test, then=then):
            asked = rule.expressions.truth(test, at)
            inner = _addend(rule, then, at)
            if inner is None:
                return None
            if inner.kind == TRUTHS:
                return Typed(join("/\\", asked, inner.tree), TRUTHS)
            if inner.kind == MEMBERS:
                nobody = Collection((), ordered=False)
                return Typed(choose(asked, inner.tree, nobody), MEMBERS)
            return Typed(choose(asked, as_kind(inner, WHOLE), Number(0)), WHOLE)
        case ir.For():
            return _total(rule, node, at)
    return None


# --- functions of an index -----------------------------------------------------------------------


def _map(rule: Following, node: ir.For, found: Range, at: Environment) -> bool:
    """Follow a loop whose turns write elements of fields that no other turn looks at.

    The element may be that of the counter, or of how far it has come from where it began.
    """
    if any(map(leaves, node.body)):
        return False
    if _map_from(rule, node, found, Number(0), at):
        return True
    for less in (found.start, Number(-1)):
        start, stop = minus(found.start, less), minus(found.stop, less)
        turns = Range(start, stop, 1, interval(start, minus(stop, Number(1))))
        if less != Number(0) and _map_from(rule, node, turns, less, at):
            return True
    return False


def _map_from(rule: Following, node: ir.For, found: Range, start: Tree, at: Environment) -> bool:
    inner = at.copy()
    counter = counter_of(rule, node, found)
    inner.variables[node.counter.name] = Typed(plus(counter, start), WHOLE)
    level = Level(counter)
    inner.levels.append(level)
    reads = [{n: list(paths) for n, paths in each.reads.items()} for each in at.levels]
    try:
        rule.follow_all(node.body, inner)
        level = inner.levels[-1]
        level.require_independent()
        if any(
            inner.variables.get(name) != value
            for name, value in at.variables.items()
            if name != node.counter.name
        ):
            raise NotIndependent
        outer = at.copy()
        for name, (path, value) in level.cells.items():
            own = own_copy(rule.expressions.program, inner.definitions, value)
            _write_all(rule, name, path, own, found, counter, outer)
    except NotIndependent:
        for each, before in zip(at.levels, reads, strict=True):
            each.reads.clear()
            each.reads.update(before)
        return False
    at.definitions += outer.definitions
    at.fields, at.levels = outer.fields, outer.levels
    at.variables.pop(node.counter.name, None)
    return True


def _write_all(
    rule: Following,
    name: str,
    path: tuple[Tree, ...],
    value: Tree,
    found: Range,
    counter: Local,
    at: Environment,
) -> None:
    """Write what every turn writes at its own place."""
    place = path.index(counter)
    before, after = path[:place], path[place + 1 :]
    form = rule.expressions.program.fields[name]
    own = at.read(Role.NOW, name, (*before, counter))
    body = with_change(own, after, value) if after else value
    first = form.firsts[place] if form.firsts else 0
    if not _is_all(rule, found, first, form.extents[place]):
        body = choose(Infix(r"\in", counter, found.domain), body, own)
    rule.set_field(name, before, Mapped(counter, form.domains[place], body), at)


def _is_all(rule: Following, found: Range, first: int, extent: int) -> bool:
    program = rule.expressions.program
    start, stop = program.value_of(found.start), program.value_of(found.stop)
    return (start, stop) == (first, first + extent)
