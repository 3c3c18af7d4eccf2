"""Fields that hold several values, and the functions of a state that rules call for places.

What a rule does with a field whose elements have places is a call of a function, `s.wire.send(x)`
of `add(s, x)`. It is written in Python, of numbers, for one field: its places are elements of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from waterline.model.core.made import note_operation
from waterline.model.own.domains import Domain, Value, plain_field
from waterline.model.own.names import Names
from waterline.model.own.plain_fields import Choice, DeclaredField, Name, Number
from waterline.model.own.typed import At, Places, Read, V, Written

Given = Literal["nothing", "value", "number"]


class Method(NamedTuple):
    """A method of a container: its argument, its result, and whether it changes the container.

    A `value` is one of those that the container can have.
    """

    takes: Given = "nothing"
    gives: Given = "nothing"
    changes: bool = True


CLEAR = Method()


@dataclass(frozen=True, slots=True, init=False)
class Container(DeclaredField, Places[Read, Written, V, At]):
    """A field that holds several values of a domain.

    `methods` are what a rule can call. `remedies` say what to write for methods of other libraries;
    `Q` is the field.
    """

    methods: ClassVar[Mapping[str, Method]]
    remedies: ClassVar[Mapping[str, str]]
    of: Domain

    @property
    def element(self) -> Number | Choice | Name | Value:
        """The field that holds one of its values."""
        return plain_field(self.name, self.of)


@dataclass(frozen=True, slots=True, init=False)
class PlacedField(Container[Read, Written, V, At]):
    """A field with `slots` places in each element.

    `adds` is the method that adds a value; a step is cut where it does not fit. A field that
    `is_row` is read as a row of values: `for`, `[:n]`, `[0]`, truth. One that `is_sorted` has no
    order of its own: its values are kept in that of their numbers, the greatest first.
    """

    adds: ClassVar[str] = ""
    is_row: ClassVar[bool] = False
    is_sorted: ClassVar[bool] = False

    @property
    def code(self) -> Code:
        """The functions of its operations."""
        raise NotImplementedError

    @property
    def named_by(self) -> Names | None:
        """The sort whose names the places have; None for a row of values."""
        return None

    @property
    def holds(self) -> Domain | None:
        """Domain of the numbers in the places; None where they are counts, and no values."""
        return self.of

    def content(self, places: Iterable[int]) -> tuple[int, ...]:
        """Return the checker's form of an element, by the numbers in all places."""
        return tuple(places)

    def places(self, kept: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers in all places, by the checker's form of an element."""
        return kept


@dataclass(frozen=True, slots=True)
class Code:
    """The text of what a rule can do with a field, each as a function of a state.

    `_add` has the lines of the operation `add`; `takes` has its parameters after the state and the
    field's own indices. `add` is the operation of the method that `adds`, `clear` that of `clear`,
    `length` that of `len`, `contains` that of `in`; `is_full` comes before `add`.

    Of one that fails `model.own.narration` reads the operation from its name, and the value or the
    number from its parameters `x`, `n` and `k`: keep these names, and do not assign to them.
    """

    field: Any  # a `PlacedField`: each subclass reads what its kind has
    takes: ClassVar[Mapping[str, str]] = {}

    @property
    def indices(self) -> list[str]:
        """The parameters for the field's own indices."""
        return [f"i{number}" for number in range(len(self.field.indices))]

    def function(self, operation: str, name: str) -> ast.FunctionDef:
        """The function of an operation, called `name`."""
        parameters = ", ".join(["s", *self.indices, *self.takes.get(operation, "")])
        lines: list[str] = getattr(self, f"_{operation}")()
        made = parse_function([f"def {name}({parameters}):", *(f"    {line}" for line in lines)])
        return note_operation(made, operation, self.field.name)

    def _place(self, number: str) -> str:
        return f"s.{self.field.name}[{', '.join([*self.indices, number])}]"

    @property
    def length(self) -> str:
        """The name of the function that counts its values: it never fails, and all share one."""
        return f"__length_{self.field.name}__"


def parse_function(lines: list[str]) -> ast.FunctionDef:
    """Return the function with this text."""
    (made,) = ast.parse("\n".join(lines)).body
    assert isinstance(made, ast.FunctionDef)
    return made
