"""Fields of a user model that hold several values: sets, queues and logs."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, Unpack, overload

from model.own.names import BadProtocol, Index, Names
from model.own.plain_fields import (
    By,
    Choice,
    DeclaredField,
    Domain,
    Flag,
    Name,
    Number,
    Said,
    plain_field,
)
from model.own.typed import Held, Read, Written

if TYPE_CHECKING:
    from model.own.typed import Channel, Elements, Entries, Members, Table

Numbered = Names | int | range
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
        if lo != 0:
            raise BadProtocol(
                f"set {self.name} has members from {lo} on; begin with 0, as range({hi + 1})"
            )
        if hi - lo + 1 > MEMBERS_MAX:
            raise BadProtocol(
                f"set {self.name} may have {hi - lo + 1} members; at most {MEMBERS_MAX} can be"
            )

    @property
    def element(self) -> Number | Choice | Name:
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


@dataclass(frozen=True, slots=True, init=False)
class _Sequence(DeclaredField):
    of: Domain
    room: int

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        lo, _ = self.element.range
        if lo < -(1 << 61):
            raise BadProtocol(f"{self.name} holds numbers from {lo}; begin at -2**61 or above")
        if type(self.room) is not int or self.room < 1:
            raise BadProtocol(
                f"{self.name} has room for {self.room!r} values; give a whole number from 1"
            )

    @property
    def element(self) -> Number | Choice | Name:
        """The field that holds one of its values."""
        return plain_field(self.name, self.of)

    @property
    def range(self) -> tuple[int, int]:
        """A place holds a value, or the number below all values if it is empty."""
        lo, hi = self.element.range
        return lo - 1, hi

    @property
    def empty(self) -> int:
        """What a place without a value holds."""
        return self.range[0]

    @property
    def slots(self) -> int:
        """Its values stand in the first places."""
        return self.room


@dataclass(frozen=True, slots=True, init=False)
class Queue(_Sequence, Held[Read, Written]):
    """A field that is a channel: first in, first out, of at most `room` values; empty at first.

    `wire = Queue(of=("request", "reply"), room=2, by=(nodes, nodes))`:
    `s.wire[a, b].send("reply")`, `s.wire[a, b].receive()` takes the first, `s.wire[a, b][0]` reads
    it, `len(...)`, `in`, `for`.
    A step that sends into a full one is left out, and counted as cut.
    """

    @overload
    def __init__(
        self: Queue[Channel[int], Sequence[int]], of: Numbered, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Elements[Channel[int], Sequence[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Table[Channel[int], Sequence[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Channel[str], Sequence[str]], of: Words, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Elements[Channel[str], Sequence[str]], Never],
        of: Words,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Table[Channel[str], Sequence[str]], Never],
        of: Words,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Any, Any],
        name: str,
        /,
        of: Domain,
        room: int,
        *,
        by: By = (),
        **said: Unpack[Said],
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        of: Any = None,
        room: Any = None,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        self._take(given, {"of": of, "room": room}, {"by": by, "doc": doc, "ghost": ghost})


@dataclass(frozen=True, slots=True, init=False)
class Log(_Sequence, Held[Read, Written]):
    """A field that is a sequence which grows at its end, of at most `room` values; empty at first.

    `log = Log(of=range(1, terms + 1), room=entries, by=nodes)`: `s.log[node].append(term)`,
    `s.log[node][-1]`, `len(...)`, `s.log[node].truncate(2)` keeps two, `s.log[a][:n] == s.log[b]`.
    A step that appends to a full one is left out, and counted as cut.
    """

    @overload
    def __init__(
        self: Log[Entries[int], Sequence[int]], of: Numbered, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Elements[Entries[int], Sequence[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Table[Entries[int], Sequence[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Entries[str], Sequence[str]], of: Words, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Elements[Entries[str], Sequence[str]], Never],
        of: Words,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Table[Entries[str], Sequence[str]], Never],
        of: Words,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Any, Any],
        name: str,
        /,
        of: Domain,
        room: int,
        *,
        by: By = (),
        **said: Unpack[Said],
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        of: Any = None,
        room: Any = None,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        self._take(given, {"of": of, "room": room}, {"by": by, "doc": doc, "ghost": ghost})


AnyField = Flag | Number | Choice | Name | Set | Queue | Log
Sequenced = Queue | Log
