"""Environment of a rule while it is followed: its variables, and the present value of each field.

A field that nothing has written to is the variable of the module itself. A loop that treats each
element of a field separately has a `Level`, which knows only the element of the present turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from waterline.checker.compiler.resolution import Known
from waterline.checker.tla.forming import element, everything_in, with_change
from waterline.checker.tla.kinds import Typed
from waterline.checker.tla.tree import Definition, Local, Tree


class Role(Enum):
    """State given to a rule: that before the step, which effects change, or that after it."""

    NOW = "now"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class StateOf:
    """A state."""

    role: Role


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a model."""


@dataclass(frozen=True, slots=True)
class FieldOf:
    """A field with elements, of a state."""

    role: Role
    name: str


Value = Typed | StateOf | Settings | FieldOf | Known
Path = tuple[Tree, ...]


class NotIndependent(Exception):
    """The turns of a loop depend on each other."""


@dataclass(slots=True)
class Level:
    """The elements that belong to one turn of a loop, by field: the path to it, and its value."""

    counter: Local
    cells: dict[str, tuple[Path, Tree]] = field(default_factory=dict)
    reads: dict[str, list[Path | None]] = field(default_factory=dict)
    """The paths that were read before there was a cell; None for all of the field."""

    def require_independent(self) -> None:
        """Raise `NotIndependent` where a turn reads what belongs to another."""
        for name, (path, _) in self.cells.items():
            for read in self.reads.get(name, ()):
                if read is None or read[: len(path)] != path:
                    raise NotIndependent

    def copy(self) -> Level:
        """Return a copy with cells of its own."""
        return Level(self.counter, dict(self.cells), self.reads)


@dataclass(slots=True)
class Environment:
    """Variables, fields by state, and the definitions that were made on the way."""

    variables: dict[str, Value]
    fields: dict[tuple[Role, str], Tree]
    levels: list[Level] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)

    def copy(self) -> Environment:
        """Return a copy without definitions."""
        levels = [level.copy() for level in self.levels]
        return Environment(dict(self.variables), dict(self.fields), levels)

    def define(self, name: Local, value: Tree) -> None:
        """Make a definition."""
        self.definitions.append(Definition(name, (), value))

    def take(self) -> list[Definition]:
        """The definitions so far, which are forgotten."""
        found, self.definitions = self.definitions, []
        return found

    def continue_as(self, inner: Environment) -> None:
        """Take over the fields of a function that was put in."""
        self.fields, self.levels = inner.fields, inner.levels

    def read(self, role: Role, name: str, path: Path) -> Tree:
        """An element of a field. Raises `NotIndependent`."""
        if role is Role.NOW:
            for level in reversed(self.levels):
                if name in level.cells:
                    known, value = level.cells[name]
                    if path[: len(known)] != known:
                        raise NotIndependent
                    return element(value, *path[len(known) :])
                level.reads.setdefault(name, []).append(path)
        return element(self.fields[role, name], *path)

    def note_read(self, name: str) -> None:
        """All of the field is read as it is before the loops."""
        for level in self.levels:
            level.reads.setdefault(name, []).append(None)

    def has_cell(self, name: str) -> bool:
        """True if a turn has an element of the field."""
        return any(name in level.cells for level in self.levels)

    def set_cell(self, name: str, path: Path, value: Tree) -> None:
        """Write an element that belongs to the turn. Raises `NotIndependent` for another one."""
        level = self.levels[-1]
        if name in level.cells:
            known, before = level.cells[name]
            if path[: len(known)] != known:
                raise NotIndependent
            rest = path[len(known) :]
            level.cells[name] = known, with_change(before, rest, value) if rest else value
            return
        others = [index for index in path if index != level.counter]
        if len(others) != len(path) - 1 or any(
            isinstance(part, Local) and part.number >= level.counter.number
            for index in others
            for part in everything_in(index)
        ):
            raise NotIndependent
        level.cells[name] = path, value
