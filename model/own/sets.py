"""Fields of a user model that are sets."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, TypeVar, Unpack, overload

from waterline.model.own.domains import Domain, Struct, Value, plain_field
from waterline.model.own.names import BadProtocol, Epochs, Index, Names
from waterline.model.own.plain_fields import By, Choice, DeclaredField, Name, Number, Said
from waterline.model.own.typed import Held, Read, Written

if TYPE_CHECKING:
    from waterline.model.own.typed import Elements, Members, Table

S = TypeVar("S")
Numbered = Names | Epochs | int | range
"""A domain whose values are numbers in a rule."""
Words = tuple[str, ...]
MEMBERS_MAX = 62
"""A set is kept as one number, with a bit for each that may be a member."""


@dataclass(frozen=True, slots=True, init=False)
class Set(DeclaredField, Held[Read, Written]):
    """A field that is a set of values of a domain; the empty set at first.

    `votes = Set(of=nodes, by=nodes)` is written like a set of Python: `n in s.votes[node]`,
    `|`, `&`, `-`, `<=`, `len(...)`, `s.votes[node] |= {n}`, `for n in s.votes[node]`.
    """

    of: Domain

    @overload
    def __init__(
        self: Set[Members[int], AbstractSet[int]], of: Numbered, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Elements[Members[int], AbstractSet[int]], Never],
        of: Numbered,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Table[Members[int], AbstractSet[int]], Never],
        of: Numbered,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Members[str], AbstractSet[str]], of: Words, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Elements[Members[str], AbstractSet[str]], Never],
        of: Words,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Table[Members[str], AbstractSet[str]], Never],
        of: Words,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Members[S], AbstractSet[S]], of: Struct[S], **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Elements[Members[S], AbstractSet[S]], Never],
        of: Struct[S],
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Table[Members[S], AbstractSet[S]], Never],
        of: Struct[S],
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Set[Any, Any], name: str, /, of: Domain, *, by: By = (), **said: Unpack[Said]
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        of: Any = None,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        self._take(given, {"of": of}, {"by": by, "doc": doc, "ghost": ghost})

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        lo, hi = self.element.range
        if isinstance(self.of, Epochs):
            raise BadProtocol(
                f"set {self.name} has a bit for each {self.of.name}, and there may be any number; "
                "keep one in an Epoch, or some in a Log"
            )
        if lo != 0:
            raise BadProtocol(
                f"set {self.name} has members from {lo} on; begin with 0, as range({hi + 1})"
            )
        if hi - lo + 1 > MEMBERS_MAX:
            remedy = (
                "; use a Bag, or give the parts smaller domains"
                if isinstance(self.element, Value)
                else ""
            )
            raise BadProtocol(
                f"set {self.name} may have {hi - lo + 1} members; at most {MEMBERS_MAX} can be"
                f"{remedy}"
            )

    @property
    def element(self) -> Number | Choice | Name | Value:
        """The field that holds one member."""
        return plain_field(self.name, self.of)

    @property
    def range(self) -> tuple[int, int]:
        """A bit for each value of the domain, the least first."""
        lo, hi = self.element.range
        return 0, (1 << hi - lo + 1) - 1

    def members(self, value: int) -> list[int]:
        """The members of a set that is kept as this number."""
        lo, hi = self.element.range
        return [member for member in range(lo, hi + 1) if value >> member - lo & 1]
