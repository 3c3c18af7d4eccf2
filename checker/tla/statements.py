"""Statements of rules, followed symbolically: each assignment is a definition of its own.

What an `if` may have changed becomes a choice of two values. Where one of its ways ends the rule,
what comes after is done in the other: then the rule itself becomes a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.tla import arithmetic, loops, turns
from waterline.checker.tla.ends import Ends, leaves
from waterline.checker.tla.environment import (
    Environment,
    FieldOf,
    NotIndependent,
    Role,
    StateOf,
    Value,
)
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import choose, let, with_change
from waterline.checker.tla.kinds import Items, Typed, as_kind, kind_of_all, parts
from waterline.checker.tla.tidying import own_copy
from waterline.checker.tla.tree import ATOMIC, Collection, Definition, Tree, Truth


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of one function."""

    expressions: Expressions

    @property
    def body(self) -> ir.Block:
        """The function's."""
        return lower_function(self.expressions.source).body

    # --- statements that may end the function ----------------------------------------------------

    def run(self, block: Sequence[ir.Statement], at: Environment, ends: Ends) -> Tree:
        """Return the statements as one expression."""
        for place, statement in enumerate(block):
            rest = block[place + 1 :]
            if not leaves(statement):
                self.follow(statement, at)
                continue
            found = self._left(statement, rest, at, ends)
            if found is not None:
                return let(at.take(), found)
        found = ends.fell(at)
        return let(at.take(), found)

    def _left(
        self, node: ir.Statement, rest: Sequence[ir.Statement], at: Environment, ends: Ends
    ) -> Tree | None:
        """Translate a statement that may end the function; None if it turns out not to."""
        match node:
            case ir.Return(value=value):
                return ends.returned(at, None if value is None else self._return(value, at))
            case ir.Break() if ends.broke is not None:
                return ends.broke(at)
            case ir.Continue() if ends.continued is not None:
                return ends.continued(at)
            case ir.If():
                test = self.expressions.truth(node.test, at)
                if isinstance(test, Truth):
                    block = node.then if test.value else node.otherwise
                    return self.run((*block, *rest), at, ends)
                before = at.take()
                then, otherwise = at.copy(), at.copy()
                ways = [
                    self.run((*node.then, *rest), then, ends),
                    self.run((*node.otherwise, *rest), otherwise, ends),
                ]
                return let(before, choose(test, *ways))
            case ir.For() | ir.While():
                return loops.left(self, node, rest, at, ends)
        raise self.expressions.refuse(node, f"`{node.text}` stands there", "leave it out")

    def _return(self, node: ir.Expression, at: Environment) -> Typed:
        value = self.expressions.value(node, at)
        if not isinstance(value, Typed):
            raise self.expressions.refuse(node, f"`{node.text}` is returned", "return a value")
        return value

    # --- statements after which the next one comes -----------------------------------------------

    def follow_all(self, block: Sequence[ir.Statement], at: Environment) -> None:
        """Follow statements that do not end the function."""
        for statement in block:
            self.follow(statement, at)

    def follow(self, node: ir.Statement, at: Environment) -> None:
        """Follow one."""
        match node:
            case ir.Assign(targets=targets, value=value):
                assigned = self.expressions.value(value, at)
                for target in targets:
                    self.assign(target, assigned, at)
            case ir.Update(target=target, operator=operator, value=value):
                before = self.expressions.translate(target, at)
                by = self.expressions.translate(value, at)
                program = self.expressions.program
                self.assign(target, arithmetic.operate(program, operator, before, by), at)
            case ir.If():
                self._if(node, at)
            case ir.For() | ir.While():
                loops.follow(self, node, at)
            case ir.Evaluate(call=call):
                self.expressions.value(call, at)
            case ir.Pass():
                pass
            case ir.Refused(what=what, instead=instead):
                raise self.expressions.refuse(node, what, instead)
            case _:
                raise self.expressions.refuse(node, f"`{node.text}` stands there", "leave it out")

    def assign(self, target: ir.Expression, value: Value, at: Environment) -> None:
        """Give a variable or an element of a field another value."""
        match target:
            case ir.Name(name=name):
                if isinstance(value, Typed):
                    kept = self.keeps() and not name.startswith("__")
                    at.variables[name] = self.name_value(name, value, at, kept=kept)
                else:
                    at.variables[name] = value
                return
            case ir.Tuple(items=items) if isinstance(value, Typed) and isinstance(
                value.kind, Items
            ):
                value = self.name_value("several", value, at, kept=False)
                for each, item in zip(items, parts(value), strict=True):
                    self.assign(each, item, at)
                return
            case ir.Attribute(owner=owner, name=name) if isinstance(value, Typed):
                state = self.expressions.value(owner, at)
                known = name in self.expressions.program.fields
                if known and state == StateOf(Role.NOW):
                    self.write(name, (), value, at)
                    return
            case ir.Element(owner=owner):
                rows = self.expressions.value(owner, at)
                if isinstance(rows, FieldOf) and rows.role is Role.NOW and isinstance(value, Typed):
                    form = self.expressions.program.fields[rows.name]
                    path = self.expressions.indices(target, len(form.domains), at)
                    self.write(rows.name, path, value, at)
                    return
        raise self.expressions.refuse(
            target, f"`{target.text}` is assigned to", "assign to variables and fields"
        )

    def turns(self, node: turns.Loop, at: Environment) -> turns.Turns:
        """A loop turn by turn."""
        return turns.Turns(self, node, at)

    def keeps(self) -> bool:
        """True if variables are those that the model names, and not ones that reading it made."""
        return not self.expressions.program.is_inlined(self.expressions.source)

    def name_value(self, base: str, value: Typed, at: Environment, *, kept: bool) -> Typed:
        """The value under a name of its own, unless it is as short as one."""
        if isinstance(value.tree, ATOMIC | Collection):
            return value
        local = self.expressions.program.local(base)
        at.definitions.append(Definition(local, (), value.tree, kept))
        return Typed(local, value.kind)

    def write(self, name: str, path: tuple[Tree, ...], value: Typed, at: Environment) -> None:
        """Give an element of a field another value."""
        self.set_field(name, path, as_kind(value, self.expressions.program.fields[name].kind), at)

    def set_field(self, name: str, path: tuple[Tree, ...], tree: Tree, at: Environment) -> None:
        """Write a field, given the module's text for the value."""
        if at.levels:
            at.set_cell(name, path, tree)
            return
        whole_field = with_change(at.fields[Role.NOW, name], path, tree) if path else tree
        if isinstance(whole_field, ATOMIC):
            at.fields[Role.NOW, name] = whole_field
            return
        local = self.expressions.program.local(name)
        at.definitions.append(Definition(local, (), whole_field))
        at.fields[Role.NOW, name] = local

    # --- if --------------------------------------------------------------------------------------

    def _if(self, node: ir.If, at: Environment) -> None:
        test = self.expressions.truth(node.test, at)
        if isinstance(test, Truth):
            self.follow_all(node.then if test.value else node.otherwise, at)
            return
        if not at.levels and not isinstance(test, ATOMIC):
            local = self.expressions.program.local("test")
            at.definitions.append(Definition(local, (), test))
            test = local
        then, otherwise = at.copy(), at.copy()
        self.follow_all(node.then, then)
        self.follow_all(node.otherwise, otherwise)
        self._meet(test, at, then, otherwise)

    def _copy(self, definitions: Sequence[Definition], tree: Tree) -> Tree:
        return own_copy(self.expressions.program, definitions, tree)

    def _meet(self, test: Tree, at: Environment, then: Environment, otherwise: Environment) -> None:
        ways = then.take(), otherwise.take()

        def meet(one: Typed, other: Typed) -> Typed:
            kind = kind_of_all([one, other])
            trees = [as_kind(one, kind), as_kind(other, kind)]
            return Typed(choose(test, *map(self._copy, ways, trees)), kind)

        for name in list(dict.fromkeys((*then.variables, *otherwise.variables))):
            one, other = then.variables.get(name), otherwise.variables.get(name)
            if one == other and one is not None:
                at.variables[name] = one
            elif isinstance(one, Typed) and isinstance(other, Typed):
                found = meet(one, other)
                at.variables[name] = self.name_value(name, found, at, kept=self.keeps())
            else:
                at.variables.pop(name, None)
        for (role, name), tree in list(at.fields.items()):
            one_tree, other_tree = then.fields[role, name], otherwise.fields[role, name]
            if one_tree != other_tree:
                whole_field = choose(test, *map(self._copy, ways, (one_tree, other_tree)))
                self.set_field(name, (), whole_field, at)
            elif one_tree != tree:
                at.fields[role, name] = one_tree
        for level, one_level, other_level in zip(
            at.levels, then.levels, otherwise.levels, strict=True
        ):
            for name in dict.fromkeys((*one_level.cells, *other_level.cells)):
                one_cell, other_cell = one_level.cells.get(name), other_level.cells.get(name)
                paths = {cell[0] for cell in (one_cell, other_cell) if cell is not None}
                if len(paths) > 1:
                    raise NotIndependent
                (path,) = paths
                before = at.read(Role.NOW, name, path)
                trees = [
                    self._copy(way, cell[1] if cell is not None else before)
                    for way, cell in zip(ways, (one_cell, other_cell), strict=True)
                ]
                level.cells[name] = path, choose(test, *trees)
