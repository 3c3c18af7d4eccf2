"""Calls of functions: as operators of the module, or inlined.

A pure function becomes an operator, which reads the variables of the module. Its statements are
inlined if it reads a state that an effect has begun to change, or a comprehension, and always if it
writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.source import Source
from waterline.checker.tla import containers
from waterline.checker.tla.ends import Ends, leaves, outcomes, resolve, value_of
from waterline.checker.tla.environment import (
    Environment,
    NotIndependent,
    Role,
    Settings,
    StateOf,
    Value,
)
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import in_order, let
from waterline.checker.tla.kinds import TRUTHS, WHOLE, Names, Typed, as_kind, kind_of_all
from waterline.checker.tla.program import Operator, Program
from waterline.checker.tla.statements import Statements
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import (
    ATOMIC,
    Apply,
    Definition,
    Member,
    Number,
    Outcome,
    Primed,
    Record,
    Tree,
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls of one model's functions."""

    program: Program

    def statements(self, source: Source) -> Statements:
        """The statements of a function."""
        return Statements(Expressions(self.program, source, self))

    def __call__(
        self,
        caller: Expressions,
        node: ir.Call,
        callee: Source,
        given: list[Value],
        at: Environment,
    ) -> Value:
        """Return the result of a call, and do its writes."""
        if callee in self.program.under_way:
            raise caller.refuse(node, f"{callee.tree.name} calls itself", "write a loop")
        if self.program.is_inlined(callee):
            found = containers.call_container(caller, callee, given, at)
            if found is not None:
                return found
        self.program.under_way.append(callee)
        try:
            if self.program.writes(callee):
                return self._put_in(caller, callee, given, at)
            if not self.program.is_inlined(callee):
                applied = self._apply(callee, given, at)
                if applied is not None:
                    return applied
            return self._looked_at(callee, given, at)
        finally:
            self.program.under_way.pop()

    # --- operators -------------------------------------------------------------------------------

    def _apply(self, callee: Source, given: list[Value], at: Environment) -> Value | None:
        """The call of an operator; None where the states are none that operators are about."""
        roles = [value.role for value in given if isinstance(value, StateOf)]
        is_next = roles == [Role.NEXT]
        if roles not in ([], [Role.NOW], [Role.NEXT], [Role.NOW, Role.NEXT]):
            return None
        plain = [StateOf(Role.NOW) if is_next and isinstance(v, StateOf) else v for v in given]
        operator = self.operator(callee, plain)
        values = [value for value in given if isinstance(value, Typed)]
        trees = tuple(as_kind(v, WHOLE) if isinstance(v.kind, Names) else v.tree for v in values)
        if is_next:
            if not all(map(self.program.is_rigid, trees)):
                return None
            for _, name in operator.reads:
                self.program.note_read(Role.NEXT, name)
            call: Tree = Apply(operator.atom, trees)
            return Typed(Primed(call) if operator.reads else call, operator.kind)
        before = self.program.pristine()
        if any(
            at.fields[role, name] != before[role, name] or at.has_cell(name)
            for role, name in operator.reads
        ):
            return None
        for role, name in operator.reads:
            self.program.note_read(role, name)
            if role is Role.NOW:
                at.note_read(name)
        return Typed(Apply(operator.atom, trees), operator.kind)

    def operator(self, callee: Source, given: list[Value], name: str = "") -> Operator:
        """The operator of a function for arguments of these kinds."""
        shape = tuple(map(_shape, given))
        key = (callee.tree.name, callee.line, callee.file, *(s for s in shape if s is not None))
        known = self.program.operators.get(key)
        if known is not None:
            return known
        self.program.reads.append(set())
        parameters = []
        variables: dict[str, Value] = {}
        for parameter, value in zip(callee.parameters, given, strict=True):
            if isinstance(value, Typed):
                kind = WHOLE if isinstance(value.kind, Names) else value.kind
                local = self.program.local(parameter)
                parameters.append(local)
                variables[parameter] = Typed(local, kind)
            else:
                variables[parameter] = value
        found = self.comes_to(callee, Environment(variables, self.program.pristine()))
        operator = Operator(
            self.program.naming.top(name or callee.tree.name),
            tuple(parameters),
            in_order(tidy(found.tree)) if found.kind == TRUTHS else tidy(found.tree),
            found.kind,
            self.program.reads.pop(),
            self.program.documentation(callee),
        )
        self.program.operators[key] = operator
        return operator

    def comes_to(self, callee: Source, at: Environment) -> Typed:
        """The value of a function that only looks."""
        statements = self.statements(callee)
        tree = statements.run(
            statements.body,
            at,
            Ends(lambda end: Outcome(None), lambda end, value: Outcome(value)),
        )
        return value_of(tree)

    # --- put in ----------------------------------------------------------------------------------

    def _bound(
        self, callee: Source, given: list[Value], at: Environment, into: list[Definition]
    ) -> Environment:
        """A call's environment: its parameters, and the fields as they are by then."""
        inner = at.copy()
        inner.variables = {}
        for parameter, value in zip(callee.parameters, given, strict=True):
            inner.variables[parameter] = value
            if isinstance(value, Typed) and not isinstance(value.tree, ATOMIC):
                local = self.program.local(parameter)
                into.append(Definition(local, (), value.tree))
                inner.variables[parameter] = Typed(local, value.kind)
        return inner

    def _looked_at(self, callee: Source, given: list[Value], at: Environment) -> Typed:
        definitions: list[Definition] = []
        inner = self._bound(callee, given, at, definitions)
        found = self.comes_to(callee, inner)
        return Typed(let(definitions, found.tree), found.kind)

    def _put_in(
        self, caller: Expressions, callee: Source, given: list[Value], at: Environment
    ) -> Value:
        inner = self._bound(callee, given, at, at.definitions)
        statements = self.statements(callee)
        *others, last = statements.body
        value: Value | None = None
        if not goes_through(callee):
            value = self._outcome(statements, inner, at)
        else:
            statements.follow_all(others, inner)
            if isinstance(last, ir.Return):
                if last.value is not None:
                    value = statements.expressions.value(last.value, inner)
            else:
                statements.follow(last, inner)
            at.definitions += inner.take()
            at.continue_as(inner)
        return Typed(Number(0), WHOLE) if value is None else value

    def _outcome(self, statements: Statements, inner: Environment, at: Environment) -> Value | None:
        """A function that writes and may end early: all that it changes as one record."""
        if inner.levels:
            raise NotIndependent
        before = dict(inner.fields)
        tree = statements.run(
            statements.body,
            inner,
            Ends(
                lambda end: Outcome(None, changes_of(before, end)),
                lambda end, value: Outcome(value, changes_of(before, end)),
            ),
        )
        ends = outcomes(tree)
        names = list(dict.fromkeys(name for end in ends for name, _ in end.changed))
        values = [end.value for end in ends]
        kind = kind_of_all(values) if all(value is not None for value in values) else None
        base = statements.expressions.source.tree.name

        def record(end: Outcome) -> Tree:
            new = dict(end.changed)
            members = [(name, new.get(name, before[Role.NOW, name])) for name in names]
            if kind is not None:
                members.append(("returned", as_kind(end.value, kind)))
            return members[0][1] if len(members) == 1 else Record(tuple(members))

        if not names and kind is None:
            return None
        local = self.program.local(f"after_{base}" if names else base)
        at.definitions.append(Definition(local, (), resolve(tree, record)))
        single = len(names) + (kind is not None) == 1
        for name in names:
            at.fields[Role.NOW, name] = local if single else Member(local, name)
        if kind is None:
            return None
        return Typed(local if single else Member(local, "returned"), kind)


def changes_of(
    before: dict[tuple[Role, str], Tree], at: Environment
) -> tuple[tuple[str, Tree], ...]:
    """The fields of the present state that have another value by now."""
    return tuple(
        (name, tree)
        for (role, name), tree in at.fields.items()
        if role is Role.NOW and tree != before[role, name]
    )


def goes_through(callee: Source) -> bool:
    """True if a function goes through all its statements, whatever the state."""
    *others, last = lower_function(callee).body
    return not any(map(leaves, others)) and (isinstance(last, ir.Return) or not leaves(last))


def _shape(value: Value) -> Any:
    """Return the part of an argument that needs an operator of its own; None for the settings."""
    match value:
        case Typed(kind=kind):
            return WHOLE if isinstance(kind, Names) else kind
        case StateOf(role=role):
            return role
        case Settings():
            return None
    return value
