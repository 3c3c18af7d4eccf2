"""A loop of whatever kind as an operator that calls itself, turn by turn.

Its parameters are the values that turns change; it returns one, or a record of several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from waterline.checker.compiler import ir
from waterline.checker.compiler.resolution import Known
from waterline.checker.tla.ends import Ends, Following
from waterline.checker.tla.environment import Environment, NotIndependent, Role
from waterline.checker.tla.forming import interval, let, minus, plus
from waterline.checker.tla.kinds import WHOLE, Kind, Typed, as_kind, kind_of_all
from waterline.checker.tla.tree import (
    ATOMIC,
    Apply,
    Definition,
    If,
    Infix,
    Local,
    Member,
    Number,
    Record,
    Tree,
    Truth,
)

Loop = ir.For | ir.While
_Key = tuple[str, str]
"""("variable", its name) or ("field", its name)"""


@dataclass(frozen=True, slots=True)
class Range:
    """Range of a `for` loop's counter."""

    start: Tree
    stop: Tree
    step: int
    domain: Tree


def range_of(rule: Following, node: ir.For, at: Environment) -> Range:
    """Return the range of a `for`. Raises `BadEnvironment` for anything but a range."""
    expressions, program = rule.expressions, rule.expressions.program
    called = expressions.value(node.function, at)
    if not isinstance(called, Known) or called.thing is not range or len(node.bounds) > 3:
        raise expressions.refuse(node, "a loop over something else than a range", "use range")
    bounds = [expressions.number(bound, at) for bound in node.bounds]
    step = program.value_of(bounds[2]) if len(bounds) == 3 else 1
    if step is None or step == 0:
        raise expressions.refuse(node, "a step that is not known, or zero", "use a constant")
    start, stop = (Number(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    domain = interval(start, minus(stop, Number(1)))
    if start == Number(0):
        domain = program.below(stop)
    return Range(start, stop, step, domain)


def is_empty(rule: Following, found: Range) -> bool:
    """True if the range is known to be empty."""
    start, stop = found.start, found.stop
    if not (isinstance(start, Number) and isinstance(stop, Number)):
        return False
    return start.value >= stop.value if found.step > 0 else start.value <= stop.value


def is_natural(found: Range) -> bool:
    """True if the counter is never below 0."""
    return found.step > 0 and isinstance(found.start, Number) and found.start.value >= 0


def counter_of(rule: Following, node: ir.For, found: Range) -> Local:
    """A name for what counts the turns."""
    program = rule.expressions.program
    counter = program.counter(node.counter.name)
    if is_natural(found):
        program.naturals.add(counter)
    return counter


def turn_by_turn(rule: Following, node: Loop, at: Environment) -> None:
    """Follow a loop that does not end the function."""
    loop = rule.turns(node, at)
    if not loop.kinds:
        return

    def nothing(end: Environment, value: Typed | None) -> Tree:
        raise AssertionError("a loop that returns is followed with what comes after it")

    done = loop.result
    tree = loop.write(lambda again: Ends(again, nothing, done, again), done)
    if len(loop.kinds) == 1:
        (key,) = loop.kinds
        loop.set(at, key, tree, rule)
    else:
        result = rule.expressions.program.local("after_loop")
        at.definitions.append(Definition(result, (), tree))
        for key, label in loop.labels().items():
            loop.set(at, key, Member(result, label), rule)
    if isinstance(node, ir.For):
        at.variables.pop(node.counter.name, None)


class Turns:
    """A loop as an operator of what its turns change: it calls itself for the next turn."""

    def __init__(self, rule: Following, node: Loop, at: Environment) -> None:
        if at.levels:
            raise NotIndependent
        self.rule, self.node, self.at = rule, node, at
        self.program = rule.expressions.program
        self.range = range_of(rule, node, at) if isinstance(node, ir.For) else None
        self.kinds: dict[_Key, Kind] = {}
        self.operator = self.program.local("loop")
        self._find_kinds()

    def _find_kinds(self) -> None:
        while True:
            found = self._changes()
            if found == self.kinds:
                break
            self.kinds = found

    def _changes(self) -> dict[_Key, Kind]:
        """Return the variables and fields that a turn changes, with their kinds after it."""
        ends: list[Environment] = []

        def collect(end: Environment) -> Tree:
            ends.append(end.copy())
            return Truth(True)

        inner, _, _ = self._begin()
        begun = inner.copy()
        if isinstance(self.node, ir.While):
            self.rule.expressions.truth(self.node.test, inner)
        self.rule.run(
            self.node.body, inner, Ends(collect, lambda e, v: Truth(True), collect, collect)
        )
        kinds: dict[_Key, Kind] = {}
        counter = self.node.counter.name if isinstance(self.node, ir.For) else None
        for name, first in self.at.variables.items():
            if name == counter or not isinstance(first, Typed):
                continue
            after = [end.variables.get(name) for end in ends]
            typed = [value for value in after if isinstance(value, Typed)]
            key = ("variable", name)
            if key in self.kinds or any(v != begun.variables[name] for v in after):
                before = begun.variables[name]
                assert isinstance(before, Typed)
                kinds[key] = kind_of_all([first, before, *typed])
        for (role, name), tree in begun.fields.items():
            key = ("field", name)
            if role is Role.NOW and (
                key in self.kinds or any(end.fields[role, name] != tree for end in ends)
            ):
                kinds[key] = self.program.fields[name].kind
        return kinds

    def _begin(self) -> tuple[Environment, Local | None, list[Local]]:
        """A turn's environment, its counter, and what stands for what turns change."""
        inner = self.at.copy()
        counter = None
        if isinstance(self.node, ir.For):
            counter = self.program.local(self.node.counter.name)
            if self.range is not None and is_natural(self.range):
                self.program.naturals.add(counter)
            inner.variables[self.node.counter.name] = Typed(counter, WHOLE)
        parameters = []
        for (what, name), kind in self.kinds.items():
            local = self.program.local(name)
            parameters.append(local)
            if what == "variable":
                inner.variables[name] = Typed(local, kind)
            else:
                inner.fields[Role.NOW, name] = local
        return inner, counter, parameters

    def values(self, end: Environment) -> tuple[Tree, ...]:
        """Return the values that turns change, at the end of one."""
        found = []
        for (what, name), kind in self.kinds.items():
            if what == "field":
                found.append(end.fields[Role.NOW, name])
                continue
            value = end.variables.get(name)
            if not isinstance(value, Typed):
                raise self.rule.expressions.refuse(
                    self.node, f"`{name}` may have no value after it", "give it one before"
                )
            found.append(as_kind(value, kind))
        return tuple(found)

    def labels(self) -> dict[_Key, str]:
        """A name for each in a record of all of them."""
        found: dict[_Key, str] = {}
        for key in self.kinds:
            label = key[1]
            while label in found.values():
                label += "_"
            found[key] = label
        return found

    def result(self, end: Environment) -> Tree:
        """Return the result of the loop."""
        values = self.values(end)
        if len(values) == 1:
            return values[0]
        return Record(tuple(zip(self.labels().values(), values, strict=True)))

    def afterwards(self, end: Environment) -> Environment:
        """The environment after the loop: what a turn has of its own is forgotten."""
        found = end.copy()
        known = self.at.variables
        found.variables = {n: v for n, v in end.variables.items() if n in known}
        if isinstance(self.node, ir.For):
            found.variables.pop(self.node.counter.name, None)
        return found

    def set(self, at: Environment, key: _Key, tree: Tree, rule: Following) -> None:
        """Give one of those its value after the loop."""
        what, name = key
        if what == "field":
            rule.set_field(name, (), tree, at)
        else:
            value = Typed(tree, self.kinds[key])
            at.variables[name] = rule.name_value(name, value, at, kept=rule.keeps())

    def write(
        self,
        ends: Callable[[Callable[[Environment], Tree]], Ends],
        done: Callable[[Environment], Tree],
    ) -> Tree:
        """The loop, begun with what there is before it."""
        inner, counter, parameters = self._begin()
        finished = inner.copy()
        definitions: list[Definition] = []
        given = [counter, *parameters] if counter is not None else list(parameters)

        def again(end: Environment) -> Tree:
            values = self.values(end)
            if counter is not None:
                assert self.range is not None
                values = (plus(counter, Number(self.range.step)), *values)
            return Apply(self.operator, values)

        first: tuple[Tree, ...] = self.values(self.at)
        if self.range is not None and counter is not None:
            stop = self.range.stop
            if not isinstance(stop, ATOMIC):
                local = self.program.local("stop")
                definitions.append(Definition(local, (), stop))
                stop = local
            test: Tree = Infix("<" if self.range.step > 0 else ">", counter, stop)
            first = (self.range.start, *first)
        else:
            assert isinstance(self.node, ir.While)
            test = self.rule.expressions.truth(self.node.test, inner)
        body = self.rule.run(self.node.body, inner, ends(again))
        turn = If(test, body, done(finished))
        definitions.append(Definition(self.operator, tuple(given), turn, kept=True, recursive=True))
        return let(definitions, Apply(self.operator, first))
