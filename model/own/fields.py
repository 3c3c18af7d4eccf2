"""Fields of a user model: what a state is made of, and the finite domains of their values.

Here are those that hold several values: sets; and in places queues, bags and logs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, overload

from waterline.model.own.domains import Domain, PlainField, Struct, Value, plain_field
from waterline.model.own.names import (
    BadProtocol,
    Epochs,
    Index,
    Names,
    Opaque,
    extent,
    plural_of,
    require_index,
    require_name,
)
from waterline.model.own.plain_fields import (
    NONE,
    By,
    Choice,
    DeclaredField,
    Epoch,
    Flag,
    Name,
    Number,
)
from waterline.model.own.typed import (
    Among,
    At,
    Channel,
    Entries,
    Held,
    Members,
    Multiset,
    Places,
    Read,
    V,
    Written,
)

if TYPE_CHECKING:
    from waterline.model.own.typed import Said

__all__ = [
    "MEMBERS_MAX",
    "NONE",
    "AnyField",
    "BadProtocol",
    "Bag",
    "By",
    "Choice",
    "DeclaredField",
    "Domain",
    "Epoch",
    "Epochs",
    "Flag",
    "Index",
    "Log",
    "Name",
    "Names",
    "Number",
    "Opaque",
    "PlainField",
    "Queue",
    "Sequenced",
    "Set",
    "Struct",
    "Value",
    "extent",
    "plain_field",
    "plural_of",
    "require_index",
    "require_name",
]

MEMBERS_MAX = 62
"""A set is kept as one number, with a bit for each that may be a member."""


@dataclass(frozen=True, slots=True, init=False)
class Set(DeclaredField, Held[Members[V], AbstractSet[V], At]):
    """A field that is a set of values of a domain; the empty set at first.

    `votes = Set(of=nodes, by=nodes)` is written like a set of Python: `n in s.votes[node]`,
    `|`, `&`, `-`, `<=`, `len(...)`, `s.votes[node] |= {n}`, `for n in s.votes[node]`.
    """

    of: Domain

    @overload
    def __init__(self, of: int | Among[V] | Sequence[V], **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Set[Any, Any], name: str, /, of: Domain, **said: Unpack[Said[Any]]
    ) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "of")

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


@dataclass(frozen=True, slots=True, init=False)
class _Sequence(DeclaredField, Places[Read, Written, V, At]):
    of: Domain
    room: int

    @overload
    def __init__(
        self, of: int | Among[V] | Sequence[V], room: int, **said: Unpack[Said[At]]
    ) -> None: ...
    @overload
    def __init__(
        self: _Sequence[Any, Any, Any, Any],
        name: str,
        /,
        of: Domain,
        room: int,
        **said: Unpack[Said[Any]],
    ) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "of", "room")

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
class Queue(_Sequence[Channel[V], Sequence[V], V, At]):
    """A field that is a channel: first in, first out, of at most `room` values; empty at first.

    `wire = Queue(of=("request", "reply"), room=2, by=(nodes, nodes))`:
    `s.wire[a, b].send("reply")`, `s.wire[a, b].receive()` takes the first, `s.wire[a, b][0]` reads
    it, `len(...)`, `in`, `for`.
    A step that sends into a full one is left out, and counted as cut.
    """


@dataclass(frozen=True, slots=True, init=False)
class Bag(_Sequence[Multiset[V], Collection[V], V, At]):
    """A field that is a bag: at most `room` values in no order, one perhaps several times.

    `wire = Bag(of=Struct(Vote, to=nodes), room=3)` is a network that delivers in any order:
    `s.wire.send(Vote(to=b))`, `s.wire.remove(vote)`, `vote in s.wire`, `s.wire.count(vote)`,
    `len(...)`, `for vote in s.wire`. A step that sends into a full one is left out, and counted as
    cut. It is empty at first.
    """


@dataclass(frozen=True, slots=True, init=False)
class Log(_Sequence[Entries[V], Sequence[V], V, At]):
    """A field that is a sequence which grows at its end, of at most `room` values; empty at first.

    `log = Log(of=range(1, terms + 1), room=entries, by=nodes)`: `s.log[node].append(term)`,
    `s.log[node][-1]`, `len(...)`, `s.log[node].truncate(2)` keeps two, `s.log[a][:n] == s.log[b]`.
    A step that appends to a full one is left out, and counted as cut.
    """


AnyField = PlainField | Set | Queue | Log | Bag
Sequenced = Queue | Log | Bag
