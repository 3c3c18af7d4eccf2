"""States as values: a rule that writes makes another state, as `[s EXCEPT !.hw[leader] = 1]`.

Writes since the last state that has a name are pending: they become one EXCEPT when the state is
needed as a whole, by a rule that is called or at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from waterline.checker.tla.environment import Environment, Role
from waterline.checker.tla.forming import negate, with_change
from waterline.checker.tla.tree import Change, Except, Junction, Label, Member, Tree, Truth


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
