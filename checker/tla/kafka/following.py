"""Statements of a rule whose state is one value.

Where an `if` or a loop writes, the whole state becomes a choice of two, or what the loop hands on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from waterline.checker.compiler import ir
from waterline.checker.compiler.content import NoContent
from waterline.checker.compiler.resolution import Known, Undefined
from waterline.checker.tla.ends import Ends, Following, leaves
from waterline.checker.tla.environment import Environment, FieldOf, Role, Settings, StateOf, Value
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import choose, let, plus
from waterline.checker.tla.kafka.states import KafkaProgram, StateEnvironment
from waterline.checker.tla.kafka.vocabulary import REPLICA_PARAMETERS
from waterline.checker.tla.kinds import WHOLE, Kind, Typed, truth
from waterline.checker.tla.statements import Statements
from waterline.checker.tla.tree import (
    ATOMIC,
    Definition,
    Element,
    Except,
    If,
    Infix,
    Local,
    Member,
    Number,
    Tree,
    Truth,
)
from waterline.checker.tla.turns import Loop, Turns
from waterline.model.message import terms


@dataclass(frozen=True, slots=True)
class StateExpressions(Expressions):
    """Expressions over states that are values."""

    program: KafkaProgram

    def read(self, role: Role, name: str, path: tuple[Tree, ...], at: Environment) -> Typed:
        """An element of a field as it is by now; of a field that never changes its value."""
        fixed = self.program.fixed.get(name)
        if fixed is not None:
            return fixed
        now = cast(StateEnvironment, at)
        if role is Role.NOW and not at.has_cell(name):
            tree = at.fields[role, name]
            found = _known_element(tree, path)
            if found is not None:
                self.program.note_read(role, name)
                return Typed(found, self.program.fields[name].kind)
            if tree != Member(now.state, name):
                name_state(self.program, now)
        return Expressions.read(self, role, name, path, at)

    def value(self, node: ir.Expression, at: Environment) -> Value:
        """Translate an expression. A parameter for a replica is known to differ from NO_REPLICA."""
        found = Expressions.value(self, node, at)
        if isinstance(node, ir.Comparison) and isinstance(found, Typed):
            match found.tree:
                case Infix(operator="=" | "#" as sign, left=left, right=right):
                    sides = {left, right}
                    if _NOBODY in sides and any(
                        side in self.program.parameters and side.base in REPLICA_PARAMETERS
                        for side in sides
                        if isinstance(side, Local)
                    ):
                        return truth(sign == "#")
        return found

    def indices(self, node: ir.Element, count: int, at: Environment) -> tuple[Tree, ...]:
        """The indices of an element; records are counted from 1."""
        found = Expressions.indices(self, node, count, at)
        if isinstance(node.owner, ir.Attribute):
            form = self.program.fields.get(node.owner.name)
            if form is not None and form.firsts:
                return tuple(plus(i, Number(f)) for i, f in zip(found, form.firsts, strict=True))
        return found

    def _attribute(self, node: ir.Attribute, at: Environment) -> Value:
        owner = self.value(node.owner, at)
        match owner:
            case StateOf(role=role) if node.name in self.program.fixed:
                if self.program.fields[node.name].domains:
                    return FieldOf(role, node.name)
                return self.program.fixed[node.name]
            case Settings() if node.name in self.program.sizes:
                return self.program.sizes[node.name].typed
            case Known(thing=thing) if not isinstance(thing, int):
                try:
                    found = self.program.lookups.member(owner, node.name)
                except (Undefined, NoContent):
                    pass
                else:
                    return self._constant(node.name, found)
        return Expressions._attribute(self, node, at)

    def _constant(self, name: str, found: Known) -> Value:
        known = self.program.constant(name, found.thing)
        return found if known is None else known


_NOBODY = Number(terms.NO_REPLICA)


def _known_element(tree: Tree, path: tuple[Tree, ...]) -> Tree | None:
    """Return the value last written there, if it is as short as a name."""
    value: Tree | None = None
    if isinstance(tree, Except) and path and tree.changes[-1].path == path:
        value = tree.changes[-1].value
    elif not path and not isinstance(tree, Except | Member):
        value = tree
    is_short = isinstance(value, Element) and isinstance(value.index, ATOMIC)
    return value if isinstance(value, ATOMIC) or is_short else None


def name_state(program: KafkaProgram, at: StateEnvironment) -> Tree:
    """The state by now, under a name of its own if anything is pending."""
    if at.pending:
        local = program.local("s")
        at.define(local, at.whole())
        at.becomes(local)
    return at.state


@dataclass(frozen=True, slots=True)
class StateStatements(Statements):
    """Statements that write to a state that is a value."""

    expressions: StateExpressions

    def run(self, block: Sequence[ir.Statement], at: Environment, ends: Ends) -> Tree:
        """Return the statements as one expression. A final `if` is a choice of two ends."""
        now = cast(StateEnvironment, at)
        kept = self._without_what_is_off(block, at)
        before, last = kept[:-1], kept[-1] if kept else None
        if not isinstance(last, ir.If) or at.levels or any(map(leaves, before)):
            return Statements.run(self, block, at, ends)
        self.follow_all(before, at)
        found = self._left(last, (), at, ends)
        assert found is not None
        return let(now.take(), found)

    def _without_what_is_off(
        self, block: Sequence[ir.Statement], at: Environment
    ) -> list[ir.Statement]:
        """The statements less those at the end that the version or its settings switch off."""
        kept = list(block)
        while kept and isinstance(kept[-1], ir.If) and self._is_off(kept[-1], at):
            kept.pop()
        return kept

    def _is_off(self, node: ir.If, at: Environment) -> bool:
        if node.otherwise or not isinstance(node.test, ir.Call):
            return False
        called = self.expressions.value(node.test.function, at)
        is_feature = isinstance(called, Known) and getattr(called.thing, "__name__", "") == "has"
        return is_feature and self.expressions.truth(node.test, at) == Truth(False)

    def _left(
        self, node: ir.Statement, rest: Sequence[ir.Statement], at: Environment, ends: Ends
    ) -> Tree | None:
        if isinstance(node, ir.If):
            now = cast(StateEnvironment, at)
            name_state(self.expressions.program, now)
            test = now.resolve_test(self.expressions.truth(node.test, at))
            if isinstance(test, Truth):
                return self.run((*(node.then if test.value else node.otherwise), *rest), at, ends)
            before = at.take()
            then, otherwise = now.where(test, True), now.where(test, False)
            ways = [
                self.run((*node.then, *rest), then, ends),
                self.run((*node.otherwise, *rest), otherwise, ends),
            ]
            return let(before, choose(test, *ways))
        if isinstance(node, ir.For | ir.While):
            name_state(self.expressions.program, cast(StateEnvironment, at))
        return Statements._left(self, node, rest, at, ends)

    def follow(self, node: ir.Statement, at: Environment) -> None:
        """Follow one."""
        if isinstance(node, ir.For | ir.While) and not at.levels:
            name_state(self.expressions.program, cast(StateEnvironment, at))
        Statements.follow(self, node, at)

    def set_field(self, name: str, path: tuple[Tree, ...], tree: Tree, at: Environment) -> None:
        """Give an element of a field another value. One that never changes is found not to."""
        program = self.expressions.program
        if name in program.fixed:
            if tree != program.fixed[name].tree:
                program.varying.add(name)
            return
        if at.levels:
            at.set_cell(name, path, tree)
            return
        cast(StateEnvironment, at).put(name, path, tree)

    def name_value(self, base: str, value: Typed, at: Environment, *, kept: bool) -> Typed:
        """The value under a name of its own, unless it is as short as one."""
        match value.tree:
            case Infix(operator="+" | "-", left=Element(), right=Number()):
                return value  # a record's place among those that are counted from 0
        return Statements.name_value(self, base, value, at, kept=kept)

    def turns(self, node: Loop, at: Environment) -> Turns:
        """A loop turn by turn."""
        return StateTurns(self, node, at)

    def _if(self, node: ir.If, at: Environment) -> None:
        now = cast(StateEnvironment, at)
        test = now.resolve_test(self.expressions.truth(node.test, at))
        if isinstance(test, Truth):
            self.follow_all(node.then if test.value else node.otherwise, at)
            return
        if at.levels:
            Statements._if(self, node, at)
            return
        then, otherwise = self._ways(node, now, test)
        if _wrote(now, then) or _wrote(now, otherwise):
            if now.pending:
                name_state(self.expressions.program, now)
                test = self.expressions.truth(node.test, at)
                then, otherwise = self._ways(node, now, test)
            states = [let(way.definitions, way.whole()) for way in (then, otherwise)]
            local = self.expressions.program.local("s")
            becomes = choose(test, *states)
            for way in (then, otherwise):  # what is left are the variables
                way.state, way.fields = now.state, dict(now.fields)
            self._meet(test, at, then, otherwise)
            now.definitions.append(Definition(local, (), becomes, kept=isinstance(becomes, If)))
            now.becomes(local)
        else:
            self._meet(test, at, then, otherwise)

    def _ways(
        self, node: ir.If, at: StateEnvironment, test: Tree
    ) -> tuple[StateEnvironment, StateEnvironment]:
        then, otherwise = at.where(test, True), at.where(test, False)
        self.follow_all(node.then, then)
        self.follow_all(node.otherwise, otherwise)
        return then, otherwise


def _wrote(at: StateEnvironment, way: StateEnvironment) -> bool:
    return way.state != at.state or way.fields != at.fields


_STATE = ("state", "s")


class StateTurns(Turns):
    """A loop as an operator that passes on the state, and the variables that turns change."""

    def _changes(self) -> dict[tuple[str, str], Kind]:
        found = Turns._changes(self)
        writes = _STATE in self.kinds or any(what == "field" for what, _ in found)
        kinds = {key: kind for key, kind in found.items() if key[0] == "variable"}
        return {**kinds, _STATE: WHOLE} if writes else kinds

    def _begin(self) -> tuple[Environment, Local | None, list[Local]]:
        kinds, self.kinds = self.kinds, {k: v for k, v in self.kinds.items() if k != _STATE}
        inner, counter, parameters = Turns._begin(self)
        self.kinds = kinds
        if _STATE in kinds:
            parameters.append(self.program.local("s"))
            cast(StateEnvironment, inner).becomes(parameters[-1])
        return inner, counter, parameters

    def values(self, end: Environment) -> tuple[Tree, ...]:
        """Return the values that turns change, at the end of one."""
        kinds, self.kinds = self.kinds, {k: v for k, v in self.kinds.items() if k != _STATE}
        found = Turns.values(self, end)
        self.kinds = kinds
        return (*found, cast(StateEnvironment, end).whole()) if _STATE in kinds else found

    def set(self, at: Environment, key: tuple[str, str], tree: Tree, rule: Following) -> None:
        """Give one of those its value after the loop."""
        if key != _STATE:
            Turns.set(self, at, key, tree, rule)
            return
        local = self.program.local("s")
        at.define(local, tree)
        cast(StateEnvironment, at).becomes(local)
