"""Calls of the model's functions: each is an operator of the module, of the states it is given.

One that writes is an operator from a state to a state. What is the same for all of its arguments is
put in where it is called: so a rule that a version has not is nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.source import Source
from waterline.checker.tla.calls import Caller, goes_through
from waterline.checker.tla.ends import Ends, resolve
from waterline.checker.tla.environment import (
    Environment,
    NotIndependent,
    Role,
    Settings,
    StateOf,
    Value,
)
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import everything_in, plus, union, without
from waterline.checker.tla.kafka.following import StateExpressions, StateStatements, name_state
from waterline.checker.tla.kafka.states import KafkaProgram, StateEnvironment, StateOperator
from waterline.checker.tla.kinds import MEMBERS, TRUTHS, WHOLE, Kind, Members, Typed, as_kind
from waterline.checker.tla.statements import Statements
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import (
    ATOMIC,
    Apply,
    Atom,
    Collection,
    Element,
    Except,
    Infix,
    Local,
    Member,
    Number,
    Outcome,
    Tree,
    Truth,
    Word,
)

_NONE = Collection((), ordered=False)


@dataclass(frozen=True, slots=True)
class StateCaller(Caller):
    """Calls of one version's functions."""

    program: KafkaProgram

    def statements(self, source: Source) -> StateStatements:
        """The statements of a function."""
        return StateStatements(StateExpressions(self.program, source, self))

    def __call__(
        self,
        caller: Expressions,
        node: ir.Call,
        callee: Source,
        given: list[Value],
        at: Environment,
    ) -> Value:
        """Return the result of a call, and do its writes."""
        if callee.function in self.program.sets:
            one, other = (value for value in given if isinstance(value, Typed))
            return of_set(self.program.sets[callee.function], one, other)
        if callee in self.program.under_way:
            raise caller.refuse(node, f"{callee.tree.name} calls itself", "write a loop")
        self.program.under_way.append(callee)
        try:
            if not self.program.writes(callee):
                return self._ask(callee, given, at)
            if at.levels or returns_value(callee):
                return self._put_in(caller, callee, given, at)
            if is_folded(callee, self.state_operator(callee, given)) and goes_through(callee):
                return self._put_in(caller, callee, given, at)
            self._take(callee, given, cast(StateEnvironment, at))
            return Typed(Number(0), WHOLE)
        finally:
            self.program.under_way.pop()

    def _ask(self, callee: Source, given: list[Value], at: Environment) -> Value:
        """Return the result of a pure function."""
        if self.program.is_inlined(callee):
            return self._looked_at(callee, given, at)
        operator = self.state_operator(callee, given)
        for name in operator.reads:
            self.program.note_read(Role.NOW, name)
            if any(isinstance(v, StateOf) and v.role is Role.NOW for v in given):
                if at.has_cell(name):
                    return self._looked_at(callee, given, at)
                at.note_read(name)
        if isinstance(operator.value, Number | Truth | Word | Atom) or operator.value == _NONE:
            return Typed(operator.value, operator.kind)
        if is_folded(callee, operator):
            return self._looked_at(callee, given, at)
        return Typed(self._call_of(operator, given, cast(StateEnvironment, at)), operator.kind)

    def _take(self, callee: Source, given: list[Value], at: StateEnvironment) -> None:
        """A step to another state."""
        operator = self.state_operator(callee, given)
        for name in operator.reads:
            self.program.note_read(Role.NOW, name)
        if operator.value == operator.parameters[0]:
            return  # nothing is written: the version has not what it is about
        found = self._call_of(operator, given, at)
        local = self.program.local("s")
        at.define(local, found)
        at.becomes(local)

    def _call_of(self, operator: StateOperator, given: list[Value], at: StateEnvironment) -> Tree:
        trees: list[Tree] = []
        values = [value for value in given if not isinstance(value, Settings)]
        for value, kind, kept in zip(values, operator.kinds, operator.kept, strict=True):
            if not kept:
                continue
            if isinstance(value, StateOf):
                trees.append(self._state(value, at))
            else:
                assert isinstance(value, Typed)
                assert kind is not None
                trees.append(as_kind(value, kind))
        return Apply(operator.atom, tuple(trees))

    def _state(self, value: StateOf, at: StateEnvironment) -> Tree:
        if value.role is Role.NOW:
            return name_state(self.program, at)
        found = at.fields[Role.NEXT, next(iter(self.program.fields))]
        assert isinstance(found, Member)
        return found.record

    # --- operators -------------------------------------------------------------------------------

    def state_operator(self, callee: Source, given: list[Value]) -> StateOperator:
        """The operator of a function, for arguments of these kinds the first time."""
        if callee.function in self.program.made:
            return self.program.made[callee.function]
        parameters: list[Local] = []
        kinds: list[Any] = []
        variables: dict[str, Value] = {}
        states: list[Local] = []
        for name, value in zip(callee.parameters, given, strict=True):
            if isinstance(value, Settings):
                variables[name] = value
                continue
            local = self.program.local(name)
            parameters.append(local)
            self.program.parameters.add(local)
            if isinstance(value, StateOf):
                variables[name] = StateOf(Role.NEXT if states else Role.NOW)
                states.append(local)
                kinds.append(None)
                continue
            assert isinstance(value, Typed)
            kinds.append(self.program.parameter_kinds.get(name, value.kind))
            variables[name] = Typed(local, kinds[-1])
        at = environment_of(self.program, variables, states)
        self.program.reads.append(set())
        kind: Kind = WHOLE
        if self.program.writes(callee):
            value_tree = self.next_state(callee, at)
        else:
            found = self.comes_to(callee, at)
            value_tree = tidy(found.tree)
            kind = found.kind
        reads = {name for _, name in self.program.reads.pop()}
        used = set(everything_in(value_tree))
        kept = tuple(parameter in used for parameter in parameters)
        operator = StateOperator(
            self.program.naming.top(callee.tree.name),
            tuple(parameters),
            tuple(kinds),
            kept,
            value_tree,
            kind,
            reads,
            self.program.documentation(callee),
            callee.file,
        )
        self.program.made[callee.function] = operator
        return operator

    def next_state(self, callee: Source, at: StateEnvironment) -> Tree:
        """Return the state after a function that writes."""
        statements = self.statements(callee)

        def end_of(end: Environment, value: Typed | None = None) -> Tree:
            return Outcome(Typed(cast(StateEnvironment, end).whole(), WHOLE))

        tree = statements.run(statements.body, at, Ends(end_of, end_of))
        found: Tree = tidy(resolve(tree, lambda end: end.value.tree))
        return found

    # --- put in ----------------------------------------------------------------------------------

    def _put_in(
        self, caller: Expressions, callee: Source, given: list[Value], at: Environment
    ) -> Value:
        if not at.levels:
            name_state(self.program, cast(StateEnvironment, at))
        return Caller._put_in(self, caller, callee, given, at)

    def _outcome(self, statements: Statements, inner: Environment, at: Environment) -> Value | None:
        raise NotIndependent


def is_folded(callee: Source, operator: StateOperator) -> bool:
    """True if so little is left of a function in this version that its name says no more."""
    if len(lower_function(callee).body) < 2 and not isinstance(
        lower_function(callee).body[0], ir.If
    ):
        return False
    tree = operator.value
    match tree:
        case Apply(arguments=arguments):
            return all(isinstance(each, Local) for each in arguments)
        case Except(function=Local(), changes=(change,)):
            return isinstance(change.value, ATOMIC)
        case Infix(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return _is_plain(tree)


def _is_plain(tree: Tree) -> bool:
    match tree:
        case Element(function=function, index=index):
            return _is_plain(function) and isinstance(index, ATOMIC)
        case Member(record=record):
            return isinstance(record, Local)
        case Collection(items=items):
            return all(isinstance(each, ATOMIC) for each in items)
    return isinstance(tree, ATOMIC)


def environment_of(
    program: KafkaProgram, variables: dict[str, Value], states: list[Any]
) -> StateEnvironment:
    """Return the initial environment of a rule: its arguments, and the fields of its states."""
    now = states[0] if states else Local("s", 0)
    fields: dict[tuple[Role, str], Tree] = {
        (Role.NOW, name): Member(now, name) for name in program.fields
    }
    if len(states) > 1:
        fields |= {(Role.NEXT, name): Member(states[1], name) for name in program.fields}
    return StateEnvironment(variables, fields, state=now)


def returns_value(callee: Source) -> bool:
    """True if a function writes and says something besides."""
    statements = lower_function(callee).statements()
    return any(isinstance(node, ir.Return) and node.value is not None for node in statements)


def of_set(operation: str, members: Typed, other: Typed) -> Typed:
    """Return the result of an operation on a set, which the model stores as bits."""
    kind = members.kind if isinstance(members.kind, Members) else MEMBERS
    found = as_kind(members, kind)
    member = plus(as_kind(other, WHOLE), Number(kind.first))
    if operation == "contains":
        if found == Collection((), ordered=False):
            return Typed(Truth(False), TRUTHS)
        if isinstance(found, Collection) and len(found.items) == 1:
            return Typed(Infix("=", member, found.items[0]), TRUTHS)
        return Typed(Infix(r"\in", member, found), TRUTHS)
    one = Collection((member,), ordered=False)
    return Typed((union if operation == "with_member" else without)(found, one), kind)
