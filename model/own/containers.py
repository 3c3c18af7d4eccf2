"""Fields of a user model that hold several values, in places: queues, bags and logs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, TypeVar, Unpack, overload

from waterline.model.own.domains import Domain, PlainField, Struct, Value, plain_field
from waterline.model.own.names import BadProtocol, Index
from waterline.model.own.plain_fields import By, Choice, DeclaredField, Name, Number, Said
from waterline.model.own.sets import Numbered, Set, Words
from waterline.model.own.typed import Held, Read, Written

if TYPE_CHECKING:
    from waterline.model.own.typed import Channel, Elements, Entries, Multiset, Table
S = TypeVar("S")


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
    def element(self) -> Number | Choice | Name | Value:
        """The field that holds one of its values."""
        return plain_field(self.name, self.of)

    @property
    def range(self) -> tuple[int, int]:
        """A place holds a value, or the number below all values if it is empty."""
        lo, hi = self.element.range
        return lo - 1, hi

    @property
    def empty(self) -> int:
        """Number in a place without a value."""
        return self.range[0]

    @property
    def slots(self) -> int:
        """Number of places; the values are in the first ones."""
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
        self: Queue[Channel[S], Sequence[S]], of: Struct[S], room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Elements[Channel[S], Sequence[S]], Never],
        of: Struct[S],
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Queue[Table[Channel[S], Sequence[S]], Never],
        of: Struct[S],
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
class Bag(_Sequence, Held[Read, Written]):
    """A field that is a bag: at most `room` values in no order, one perhaps several times.

    `wire = Bag(of=Struct(Vote, to=nodes), room=3)` is a network that delivers in any order:
    `s.wire.send(Vote(to=b))`, `s.wire.remove(vote)`, `vote in s.wire`, `s.wire.count(vote)`,
    `len(...)`, `for vote in s.wire`. A step that sends into a full one is left out, and counted as
    cut. It is empty at first.
    """

    @overload
    def __init__(
        self: Bag[Multiset[int], Collection[int]], of: Numbered, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Elements[Multiset[int], Collection[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Table[Multiset[int], Collection[int]], Never],
        of: Numbered,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Multiset[str], Collection[str]], of: Words, room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Elements[Multiset[str], Collection[str]], Never],
        of: Words,
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Table[Multiset[str], Collection[str]], Never],
        of: Words,
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Multiset[S], Collection[S]], of: Struct[S], room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Elements[Multiset[S], Collection[S]], Never],
        of: Struct[S],
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Table[Multiset[S], Collection[S]], Never],
        of: Struct[S],
        room: int,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Bag[Any, Any],
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
        self: Log[Entries[S], Sequence[S]], of: Struct[S], room: int, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Elements[Entries[S], Sequence[S]], Never],
        of: Struct[S],
        room: int,
        *,
        by: Index,
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Log[Table[Entries[S], Sequence[S]], Never],
        of: Struct[S],
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


AnyField = PlainField | Set | Queue | Log | Bag
Sequenced = Queue | Log | Bag
