"""States as values, and the shared parts of the exported rules of one version.

A rule that writes makes another state, as `[s EXCEPT !.hw[leader] = 1]`. Writes since the last
state that has a name are pending: they become one EXCEPT when the state is needed as a whole, by a
rule that is called or at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from waterline.checker.tla.environment import Environment, Role
from waterline.checker.tla.forming import negate, with_change
from waterline.checker.tla.kinds import Kind, Typed, truth, whole
from waterline.checker.tla.program import Program
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    Change,
    Except,
    Junction,
    Label,
    Local,
    Member,
    Number,
    Tree,
    Truth,
)

_Given = TypeVar("_Given")


@dataclass(slots=True)
class StateOperator:
    """A function of the model as an operator.

    `kinds` are those of all its parameters, None for a state; `kept` says which of them it has in
    the module: no more than it reads. `reads` are the fields that it reads.
    """

    atom: Atom
    parameters: tuple[Local, ...]
    kinds: tuple[Kind | None, ...]
    kept: tuple[bool, ...]
    value: Tree
    kind: Kind
    reads: set[str]
    comment: str
    title: str

    def kept_of(self, given: Sequence[_Given]) -> tuple[_Given, ...]:
        """Return the arguments for the parameters that the operator keeps in the module."""
        return tuple(each for each, keep in zip(given, self.kept, strict=True) if keep)

    def applied_to(self, given: Sequence[Tree]) -> Tree:
        """Its call."""
        return Apply(self.atom, self.kept_of(given))


@dataclass(slots=True)
class KafkaProgram(Program):
    """A version in its circumstances.

    `fixed` are the fields that are taken never to change their value; what is found to give one
    another is put into `varying`. `words` are constants that are words, by name; `parameter_kinds`
    those of parameters of these names. `parameters` are those of operators, and of actions. `made`
    are the operators, by function; `numbers` the constants that were read, by name.
    """

    fixed: dict[str, Typed] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    words: dict[str, Typed] = field(default_factory=dict)
    parameter_kinds: dict[str, Kind] = field(default_factory=dict)
    parameters: set[Local] = field(default_factory=set)
    made: dict[Any, StateOperator] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def constant(self, name: str, thing: Any) -> Typed | None:
        """Return a constant of the model as the module writes it; None unless it is a number."""
        if isinstance(thing, bool):
            return truth(thing)
        if not isinstance(thing, int):
            return None
        if name in self.words:
            return self.words[name]
        if not name.isupper() or self.numbers.setdefault(name, int(thing)) != int(thing):
            return whole(thing)
        return Typed(Number(int(thing), name), whole(0).kind)


@dataclass(slots=True)
class StateEnvironment(Environment):
    """Environment of a rule whose state is one value: `state`, except for pending writes."""

    state: Tree = field(kw_only=True)
    facts: dict[Tree, bool] = field(default_factory=dict)
    """Conditions known to be true, or false, on the present path."""

    def copy(self) -> StateEnvironment:
        """Return a copy without definitions."""
        levels = [level.copy() for level in self.levels]
        return StateEnvironment(
            dict(self.variables),
            dict(self.fields),
            levels,
            state=self.state,
            facts=dict(self.facts),
        )

    def continue_as(self, inner: Environment) -> None:
        """Take over the state of a function that was put in."""
        assert isinstance(inner, StateEnvironment)
        Environment.continue_as(self, inner)
        self.state = inner.state

    def where(self, test: Tree, value: bool) -> StateEnvironment:
        """Return a copy that assumes the result of a test."""
        found = self.copy()
        found.facts[test] = value
        if value and isinstance(test, Junction) and test.operator == "/\\":
            found.facts.update(dict.fromkeys(test.items, True))
        if not value and isinstance(test, Junction) and test.operator == "\\/":
            found.facts.update(dict.fromkeys(test.items, False))
        return found

    def resolve_test(self, test: Tree) -> Tree:
        """Return a test, or its known result."""
        if test in self.facts:
            return Truth(self.facts[test])
        if negate(test) in self.facts:
            return Truth(not self.facts[negate(test)])
        return test

    @property
    def pending(self) -> dict[str, Tree]:
        """The fields written since the state got its name."""
        return {
            name: tree
            for (role, name), tree in self.fields.items()
            if role is Role.NOW and tree != Member(self.state, name)
        }

    def whole(self) -> Tree:
        """The state by now."""
        changes: list[Change] = []
        for name, tree in self.pending.items():
            if isinstance(tree, Except) and tree.function == Member(self.state, name):
                changes += [Change((Label(name), *c.path), c.value) for c in tree.changes]
            else:
                changes.append(Change((Label(name),), tree))
        return Except(self.state, tuple(changes)) if changes else self.state

    def becomes(self, state: Tree) -> None:
        """Go on with this state."""
        self.state = state
        for role, name in self.fields:
            if role is Role.NOW:
                self.fields[role, name] = Member(state, name)

    def put(self, name: str, path: tuple[Tree, ...], tree: Tree) -> None:
        """Write to a field, or to an element of it."""
        known = self.fields[Role.NOW, name]
        self.fields[Role.NOW, name] = with_change(known, path, tree) if path else tree
