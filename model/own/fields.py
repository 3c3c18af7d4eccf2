"""Fields of a user model: what a state is made of, and the finite domains of their values.

Here are those that hold several values: sets; and in places queues, bags and logs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Unpack, overload

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
    "Container",
    "DeclaredField",
    "Domain",
    "Epoch",
    "Epochs",
    "Flag",
    "Index",
    "Log",
    "Method",
    "Name",
    "Names",
    "Number",
    "Opaque",
    "PlainField",
    "Queue",
    "SequenceField",
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


Given = Literal["nothing", "value", "number"]


class Method(NamedTuple):
    """A method of a container: its argument, its result, and whether it changes the container.

    A `value` is one of those that the container can have.
    """

    takes: Given = "nothing"
    gives: Given = "nothing"
    changes: bool = True


_CLEAR = Method()


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
class Set(Container[Members[V], AbstractSet[V], V, At]):
    """A field that is a set of values of a domain; the empty set at first.

    `votes = Set(of=nodes, by=nodes)` is written like a set of Python: `n in s.votes[node]`,
    `|`, `&`, `-`, `<=`, `len(...)`, `s.votes[node] |= {n}`, `for n in s.votes[node]`.
    """

    methods: ClassVar = {"add": Method("value"), "discard": Method("value"), "clear": _CLEAR}
    remedies: ClassVar = {
        "remove": "Q.discard(...)",
        "update": "Q |= {...}",
        **dict.fromkeys(("append", "send", "push"), "Q.add(...)"),
    }

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
    def range(self) -> tuple[int, int]:
        """A bit for each value of the domain, the least first."""
        lo, hi = self.element.range
        return 0, (1 << hi - lo + 1) - 1

    def members(self, value: int) -> list[int]:
        """The members of a set that is kept as this number."""
        lo, hi = self.element.range
        return [member for member in range(lo, hi + 1) if value >> member - lo & 1]


@dataclass(frozen=True, slots=True, init=False)
class SequenceField(Container[Read, Written, V, At]):
    """A field with places for values, `room` of them: the first ones have a value, or all.

    Rules may do with every subclass what they do with a row of values: `len`, `in`, `for`, `[:n]`,
    truth (`model.own.lowered_calls`).

    `adds` is the method that adds a value. One that `is_sorted` has no order of its own: its values
    are kept in that of their numbers, the greatest first.
    """

    adds: ClassVar[str] = "send"
    is_sorted: ClassVar[bool] = False
    room: int

    @overload
    def __init__(
        self, of: int | Among[V] | Sequence[V], room: int, **said: Unpack[Said[At]]
    ) -> None: ...
    @overload
    def __init__(
        self: SequenceField[Any, Any, Any, Any],
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
class Queue(SequenceField[Channel[V], Sequence[V], V, At]):
    """A field that is a channel: first in, first out, of at most `room` values; empty at first.

    `wire = Queue(of=("request", "reply"), room=2, by=(nodes, nodes))`:
    `s.wire[a, b].send("reply")`, `s.wire[a, b].receive()` takes the first, `s.wire[a, b][0]` reads
    it, `len(...)`, `in`, `for`.
    A step that sends into a full one is left out, and counted as cut.
    """

    methods: ClassVar = {"send": Method("value"), "receive": Method(gives="value"), "clear": _CLEAR}
    remedies: ClassVar = {
        **dict.fromkeys(("pop", "popleft", "get", "dequeue"), "Q.receive(), which takes the first"),
        **dict.fromkeys(("append", "put", "push", "add", "enqueue"), "Q.send(...)"),
    }


@dataclass(frozen=True, slots=True, init=False)
class Bag(SequenceField[Multiset[V], Collection[V], V, At]):
    """A field that is a bag: at most `room` values in no order, one perhaps several times.

    `wire = Bag(of=Struct(Vote, to=nodes), room=3)` is a network that delivers in any order:
    `s.wire.send(Vote(to=b))`, `s.wire.remove(vote)`, `vote in s.wire`, `s.wire.count(vote)`,
    `len(...)`, `for vote in s.wire`. A step that sends into a full one is left out, and counted as
    cut. It is empty at first.
    """

    methods: ClassVar = {
        "send": Method("value"),
        "remove": Method("value"),
        "count": Method("value", "number", changes=False),
        "clear": _CLEAR,
    }
    remedies: ClassVar = {
        **dict.fromkeys(("append", "add", "put", "push"), "Q.send(...)"),
        **dict.fromkeys(("pop", "receive", "discard"), "Q.remove(...), of a value that is in it"),
    }
    is_sorted = True


@dataclass(frozen=True, slots=True, init=False)
class Log(SequenceField[Entries[V], Sequence[V], V, At]):
    """A field that is a sequence which grows at its end, of at most `room` values; empty at first.

    `log = Log(of=range(1, terms + 1), room=entries, by=nodes)`: `s.log[node].append(term)`,
    `s.log[node][-1]`, `len(...)`, `s.log[node].truncate(2)` keeps two, `s.log[a][:n] == s.log[b]`.
    A step that appends to a full one is left out, and counted as cut.
    """

    methods: ClassVar = {"append": Method("value"), "truncate": Method("number"), "clear": _CLEAR}
    remedies: ClassVar = {
        "pop": "Q.truncate(len(Q) - 1)",
        **dict.fromkeys(("add", "send", "push", "extend", "insert"), "Q.append(...)"),
    }
    adds = "append"


AnyField = PlainField | Set | SequenceField
