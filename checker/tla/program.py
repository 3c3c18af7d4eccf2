"""Shared parts of the rules of one model: fields, sizes, constants, operators and names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.resolution import Lookups
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.tla.environment import Role
from waterline.checker.tla.forming import interval, minus
from waterline.checker.tla.kinds import WHOLE, Kind, Records, Typed
from waterline.checker.tla.naming import Naming
from waterline.checker.tla.tree import Atom, Infix, Local, Number, Primed, Tree, Truth, Word
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Parameter


@dataclass(frozen=True, slots=True)
class FieldForm:
    """A field as a variable of the module: its name, the kind of its values, the set of them, and
    the set of indices in each direction.
    """

    atom: Atom
    kind: Kind
    values: Tree
    domains: tuple[Tree, ...]
    extents: tuple[int, ...]
    firsts: tuple[int, ...] = ()
    """The least index in each direction, where that is not 0."""


@dataclass(frozen=True, slots=True)
class Size:
    """A bound, or how many names there are: as the module writes it, and its value.

    `members` is the set of the numbers below it, where that has a name.
    """

    typed: Typed
    value: int
    members: Atom | None = None


@dataclass(slots=True)
class Operator:
    """A function of the file as an operator of the module. `reads` are the fields that it reads."""

    atom: Atom
    parameters: tuple[Local, ...]
    value: Tree
    kind: Kind
    reads: set[tuple[Role, str]]
    comment: str


@dataclass(slots=True)
class Program:
    """A model that is being exported.

    `settings` are those of Kafka's models, by name. `is_inlined` selects the functions without an
    operator; `documentation` returns the docstrings of functions.
    """

    naming: Naming
    fields: Mapping[str, FieldForm]
    sizes: Mapping[str, Size]
    settings: Mapping[str, int]
    is_inlined: Callable[[Source], bool]
    documentation: Callable[[Source], str]
    named_constants: bool
    records: Mapping[str, Records] = field(default_factory=dict)
    """Kind of each struct's records."""
    arguments: Mapping[str, Records] = field(default_factory=dict)
    """Kind of the structs among actions' arguments, by the size that stands for them."""
    sets: Mapping[Any, str] = field(default_factory=dict)
    """Functions that query and change sets: the operation of each."""
    lookups: Lookups = field(default_factory=Lookups)
    operators: dict[Any, Operator] = field(default_factory=dict)
    constants: dict[str, tuple[Atom, int]] = field(default_factory=dict)
    library: set[str] = field(default_factory=set)
    reads: list[set[tuple[Role, str]]] = field(default_factory=list)
    under_way: list[Any] = field(default_factory=list)
    rigid: set[Local] = field(default_factory=set)
    """Names that a quantifier binds, or a function or set of the module."""
    naturals: set[Local] = field(default_factory=set)
    """The ones among them that are never below 0."""
    _locals: int = 0
    _writes: dict[Source, bool] = field(default_factory=dict)

    def local(self, base: str) -> Local:
        """A new name within an expression."""
        self._locals += 1
        return Local(base, self._locals)

    def argument(self, parameter: Parameter, local: Local) -> Typed:
        """An argument of an action, as the kind that it is."""
        return Typed(local, self.arguments.get(parameter.over, WHOLE))

    def counter(self, base: str) -> Local:
        """A new name that a quantifier binds."""
        found = self.local(base)
        self.rigid.add(found)
        return found

    def is_rigid(self, tree: Tree) -> bool:
        """True if a value is the same in every state."""
        match tree:
            case Local():
                return tree in self.rigid
            case Atom():
                return all(form.atom != tree for form in self.fields.values())
            case Infix(left=left, right=right):
                return self.is_rigid(left) and self.is_rigid(right)
        return isinstance(tree, Number | Truth | Word)

    def pristine(self) -> dict[tuple[Role, str], Tree]:
        """The fields before anything was written, and those of the next state."""
        now: dict[tuple[Role, str], Tree] = {
            (Role.NOW, name): form.atom for name, form in self.fields.items()
        }
        return now | {(Role.NEXT, name): Primed(form.atom) for name, form in self.fields.items()}

    def note_read(self, role: Role, name: str) -> None:
        """The operator that is under way reads this."""
        if self.reads:
            self.reads[-1].add((role, name))

    def changes_a_set(self, thing: Any) -> bool:
        """True if a function adds a member to a set, or takes one out."""
        return self.sets.get(thing) in ("with_member", "without_member")

    def helper(self, name: str) -> Atom:
        """An operator of the library, which the module is to have."""
        self.library.add(name)
        return Atom(name)

    def below(self, count: Tree) -> Tree:
        """The numbers from 0 that are less."""
        for size in self.sizes.values():
            if size.typed.tree == count and size.members is not None:
                return size.members
        return interval(Number(0), minus(count, Number(1)))

    def value_of(self, tree: Tree) -> int | None:
        """The number that an expression is within these bounds, if that is seen."""
        if isinstance(tree, Number):
            return tree.value
        for size in self.sizes.values():
            if size.typed.tree == tree:
                return size.value
        match tree:
            case Infix(operator="+" | "-" as operator, left=left, right=Number(value=by)):
                value = self.value_of(left)
                return None if value is None else value + (by if operator == "+" else -by)
        return None

    def writes(self, source: Source) -> bool:
        """True if a function writes to a state that it is given, or calls one that does."""
        if source not in self._writes:
            self._writes[source] = False
            self._writes[source] = self._finds_writes(source)
        return self._writes[source]

    def _finds_writes(self, source: Source) -> bool:
        function = lower_function(source)
        for statement in function.statements():
            targets: tuple[ir.Expression, ...] = ()
            match statement:
                case ir.Assign(targets=found):
                    targets = found
                case ir.Update(target=target):
                    targets = (target,)
            if any(map(_is_field, targets)):
                return True
        return any(self.writes(callee) for callee in self._callees(source))

    def _callees(self, source: Source) -> list[Source]:
        found = []
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                thing = source.names.get(node.func.id)
                if callable(thing) and hasattr(thing, "__code__"):
                    found.append(source_of(thing))
        return found

    def refuse(self, source: Source, node: ir.Node, what: str, instead: str) -> BadEnvironment:
        """The error for a line of a rule."""
        return BadEnvironment(
            f"{source.file}:{node.line}: {source.tree.name} cannot be exported: {what}; {instead}"
        )


def _is_field(target: ir.Expression) -> bool:
    match target:
        case ir.Attribute():
            return True
        case ir.Element(owner=owner):
            return _is_field(owner)
        case ir.Tuple(items=items):
            return any(map(_is_field, items))
    return False
