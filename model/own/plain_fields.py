"""Fields of a user model that hold one value: what a state is made of, and what values there are.

Every declaration is checked as it is made. `BadProtocol` says what is wrong and what to write
instead. A field has its name from the class that it stands in, `term = Number(0, 3)`, or is given
it first, in a list: `Number("term", 0, 3)`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Never, TypedDict, Unpack, overload

from waterline.model.own.names import (
    BadProtocol,
    Epochs,
    Index,
    Names,
    extent,
    require_index,
    require_name,
)
from waterline.model.own.typed import Held, Read, Written

if TYPE_CHECKING:
    from typing import Self

    from waterline.model.own.typed import Elements, Table

NONE = -1
"""Number for None in a field of names."""
By = Index | tuple[Index, ...]


class Said(TypedDict, total=False):
    """Options of any field."""

    doc: str
    ghost: bool


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """Common part of all kinds of fields. `by` are the indices, empty for a single value.

    A `ghost` field only serves claims: no step's sentence mentions its changes.
    """

    name: str
    by: By = field(default=(), kw_only=True)
    doc: str = field(default="", kw_only=True)
    ghost: bool = field(default=False, kw_only=True)

    def _take(self, given: Sequence[Any], named: dict[str, Any], rest: dict[str, Any]) -> None:
        """Take the constructor's arguments: perhaps a name, then the `named` in their order.

        Raises `TypeError` for too few or too many, and `BadProtocol`.
        """
        name, *values = given if given and isinstance(given[0], str) else ("", *given)
        wanted = dict(named)
        left = [key for key, value in wanted.items() if value is None]
        if len(values) != len(left):
            raise TypeError(f"{type(self).__name__}.__init__() has other arguments")
        wanted |= dict(zip(left, values, strict=True))
        for key, value in {"name": name, **wanted, **rest}.items():
            object.__setattr__(self, key, value)
        if name:
            self.require()

    def with_name(self, name: str) -> Self:
        """The field under the name that it has in a class. Raises `BadProtocol`."""
        if self.name:
            raise BadProtocol(
                f"field {name} is given a name, {self.name!r}; in a class its name is {name}: "
                "leave it out of the brackets"
            )
        made = copy.copy(self)
        object.__setattr__(made, "name", name)
        made.require()
        return made

    def require(self) -> None:
        """Raises `BadProtocol` for a field that cannot be."""
        require_name("a field", self.name)
        self._require_indices()

    def _require_indices(self) -> None:
        for index in self.indices:
            require_index(f"field {self.name}", index)

    @property
    def indices(self) -> tuple[Index, ...]:
        """Indices of the elements; empty for a single value."""
        return self.by if isinstance(self.by, tuple) else (self.by,)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that an element is kept as."""
        raise NotImplementedError

    @property
    def slots(self) -> int:
        """Number of places in an element; 0 if it is one value."""
        return 0

    @property
    def extents(self) -> tuple[int, ...]:
        """Number of elements in each direction, and the number of places in the last."""
        return (*map(extent, self.indices), *((self.slots,) if self.slots else ()))


@dataclass(frozen=True, slots=True, init=False)
class Flag(DeclaredField, Held[Read, Written]):
    """A field that is True or False; False at first."""

    @overload
    def __init__(self: Flag[bool, bool], **said: Unpack[Said]) -> None: ...
    @overload
    def __init__(
        self: Flag[Elements[bool, bool], Never], *, by: Index, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Flag[Table[bool, bool], Never], *, by: tuple[Index, ...], **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Flag[Any, Any], name: str, /, *, by: By = (), **said: Unpack[Said]
    ) -> None: ...

    def __init__(self, *given: Any, by: By = (), doc: str = "", ghost: bool = False) -> None:
        self._take(given, {}, {"by": by, "doc": doc, "ghost": ghost})

    @property
    def range(self) -> tuple[int, int]:
        """False is 0, True is 1."""
        return 0, 1


@dataclass(frozen=True, slots=True, init=False)
class Number(DeclaredField, Held[Read, Written]):
    """A field of whole numbers from `lo` to `hi`, both included; `lo` at first."""

    lo: int
    hi: int

    @overload
    def __init__(self: Number[int, int], lo: int, hi: int, **said: Unpack[Said]) -> None: ...
    @overload
    def __init__(
        self: Number[Elements[int, int], Never],
        lo: int,
        hi: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Number[Table[int, int], Never],
        lo: int,
        hi: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Number[Any, Any], name: str, /, lo: int, hi: int, *, by: By = (), **said: Unpack[Said]
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        lo: Any = None,
        hi: Any = None,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        self._take(given, {"lo": lo, "hi": hi}, {"by": by, "doc": doc, "ghost": ghost})

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        for bound in (self.lo, self.hi):
            if type(bound) is not int or abs(bound) > 1 << 62:
                said, what = repr(bound), "give a whole number from -2**62 to 2**62"
                if isinstance(bound, Names | Epochs):
                    kind = type(bound).__name__
                    holds = "Epoch" if isinstance(bound, Epochs) else "Name"
                    how = "highest" if isinstance(bound, Epochs) else "count"
                    said = f"{bound.plural}, which are {kind}"
                    what = f"write {holds}({bound.plural}), or a number: {bound.plural}.{how}"
                raise BadProtocol(f"field {self.name} goes up to {said}; {what}")
        if self.lo > self.hi:
            raise BadProtocol(
                f"field {self.name} goes from {self.lo} to {self.hi}: that is empty; "
                "give the least value, then the greatest"
            )

    @property
    def range(self) -> tuple[int, int]:
        """Least and greatest value."""
        return self.lo, self.hi


@dataclass(frozen=True, slots=True, init=False)
class Choice(DeclaredField, Held[Read, Written]):
    """A field that is one of several words; the first of them at first.

    `state = Choice("working", "done", by=rms)` is compared and assigned as text:
    `s.state[rm] == "done"`. In a list its name is the first of them.
    """

    values: tuple[str, ...]

    @overload
    def __init__(self: Choice[str, str], *words: str, **said: Unpack[Said]) -> None: ...
    @overload
    def __init__(
        self: Choice[Elements[str, str], Never], *words: str, by: Index, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Choice[Table[str, str], Never],
        *words: str,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...

    def __init__(self, *words: Any, by: By = (), doc: str = "", ghost: bool = False) -> None:
        name, *values = words or ("",)
        rest = {"by": by, "doc": doc, "ghost": ghost, "values": tuple(values)}
        for key, value in {"name": name, **rest}.items():
            object.__setattr__(self, key, value)
        # The first of them is no name in a class: `Protocol` looks at the names of a list.
        self._require_indices()
        self._require_words()

    def with_name(self, name: str) -> Self:
        """Give the field its name; its first argument is then a word. Raises `BadProtocol`."""
        if self.name == name:
            raise BadProtocol(
                f"field {name} has its own name among its words; in a class leave the name out, "
                "or call the field otherwise"
            )
        made = copy.copy(self)
        object.__setattr__(made, "name", name)
        object.__setattr__(made, "values", (self.name, *self.values))
        made.require()
        return made

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        self._require_words()

    def _require_words(self) -> None:
        values = self.values
        if not values or not all(isinstance(value, str) and value for value in values):
            raise BadProtocol(
                f"field {self.name} has no choices; name them, as Choice('idle', 'busy')"
            )
        if len(set(values)) < len(values):
            raise BadProtocol(f"field {self.name} has a choice twice; give each once")

    @property
    def range(self) -> tuple[int, int]:
        """A choice is kept as its place."""
        return 0, len(self.values) - 1


@dataclass(frozen=True, slots=True, init=False)
class Name(DeclaredField, Held[Read, Written]):
    """A field that holds a name of a sort, the first one at first; or None at first, if `or_none`.

    `leader = Name(nodes, or_none=True)` is compared with None, with arguments of actions and with
    what loops count: `s.leader == node`.
    """

    of: Names
    or_none: bool = field(default=False, kw_only=True)

    @overload
    def __init__(self: Name[int, int], of: Names, **said: Unpack[Said]) -> None: ...
    @overload
    def __init__(
        self: Name[Elements[int, int], Never], of: Names, *, by: Index, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Name[Table[int, int], Never],
        of: Names,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Name[int | None, int | None],
        of: Names,
        *,
        or_none: Literal[True],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Name[Elements[int | None, int | None], Never],
        of: Names,
        *,
        or_none: Literal[True],
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Name[Table[int | None, int | None], Never],
        of: Names,
        *,
        or_none: Literal[True],
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Name[Any, Any],
        name: str,
        /,
        of: Names,
        *,
        or_none: bool = False,
        by: By = (),
        **said: Unpack[Said],
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        of: Any = None,
        or_none: bool = False,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        rest = {"or_none": or_none, "by": by, "doc": doc, "ghost": ghost}
        self._take(given, {"of": of}, rest)

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        if not isinstance(self.of, Names):
            raise BadProtocol(f"field {self.name} holds names of {self.of!r}; give a sort of Names")

    @property
    def range(self) -> tuple[int, int]:
        """Least and greatest number; None is -1."""
        return (NONE if self.or_none else 0), self.of._last
