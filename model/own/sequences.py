"""Queues, bags and logs: the fields, and what of a state a rule sees in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, Unpack, overload

from waterline.model.core.state import OutOfRange
from waterline.model.own.domains import Domain
from waterline.model.own.names import BadProtocol
from waterline.model.own.placed import CLEAR, Method, PlacedField
from waterline.model.own.plain_fields import DeclaredField, Write
from waterline.model.own.questions import BeyondBound
from waterline.model.own.sequence_code import SequenceCode
from waterline.model.own.typed import Among, At, Read, V, Written

if TYPE_CHECKING:
    from waterline.model.own.typed import Said


@dataclass(frozen=True, slots=True, init=False)
class SequenceField(PlacedField[Read, Written, V, At]):
    """A field with places for values, `room` of them: the first ones have a value, or all.

    Rules may do with every subclass what they do with a row of values: `len`, `in`, `for`, `[:n]`,
    truth (`model.own.lowered_calls`).
    """

    adds: ClassVar[str] = "send"
    is_row: ClassVar[bool] = True
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

    @property
    def code(self) -> SequenceCode:
        """The functions of its operations."""
        return SequenceCode(self)

    @property
    def first(self) -> tuple[Any, ...]:
        """No values."""
        return ()

    def content(self, places: Iterable[int]) -> tuple[int, ...]:
        """The values, by the numbers in all places."""
        return tuple(itertools.takewhile(lambda each: each != self.empty, places))

    def places(self, kept: tuple[int, ...]) -> tuple[int, ...]:
        """The numbers in all places, by the values."""
        return (*kept, *(self.empty,) * (self.room - len(kept)))

    def decode(self, kept: Any) -> tuple[Any, ...]:
        """The values."""
        return tuple(map(self.element.decode, kept))

    def encode(self, value: Any) -> tuple[int, ...]:
        """The numbers of the values."""
        return tuple(map(self.element.encode, value))

    def accept(self, value: Any, element: str) -> Any:
        """Return the values, each accepted; of a bag the greatest first. Raises `OutOfRange`."""
        if not self._has(value):
            return DeclaredField.accept(self, value, element)
        accepted = tuple(self.element.accept(each, element) for each in value)
        if self.is_sorted:
            accepted = tuple(sorted(accepted, key=self.element.encode, reverse=True))
        return accepted

    def _has(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) <= self.room

    @property
    def python_domain(self) -> str:
        """`at most 3 values, each a number, 0 to 2`"""
        return f"at most {self.room} values, each {self.element.python_domain}"

    def describe(self, kept: Any) -> str:
        """`<request, reply>`"""
        return f"<{', '.join(map(self.element.describe, kept))}>"

    def type_out(self, kept: Any) -> str:
        """`['request', 'reply']`"""
        return f"[{', '.join(map(self.element.type_out, kept))}]"

    def data(self, kept: Any) -> list[Any]:
        """The values as data."""
        return list(map(self.element.data, kept))

    def describe_change(self, was: Any, now: Any) -> str:
        """`<1> -> <1, 2>`; of a bag `loses 2, gets 0, 1`."""
        if not self.is_sorted:
            return DeclaredField.describe_change(self, was, now)
        found = []
        for word, some, others in (("loses", was, now), ("gets", now, was)):
            left = (Counter(some) - Counter(others)).elements()
            if described := ", ".join(map(self.element.describe, left)):
                found.append(f"{word} {described}")
        return ", ".join(found)

    def show(self, value: Any) -> str:
        """`(0, 2)`"""
        return repr(tuple(value))


class Values(tuple[V, ...]):
    """Content of a queue or a log, the first one first."""

    _declared: Any  # a field of a class reads as its value, to a type checker
    _name: str
    _write: Write

    def __new__(  # noqa: D102 - as a tuple is made, of values
        cls, declared: Any, values: Any, name: str, write: Write
    ) -> Values:
        made: Any = super().__new__(cls, values)
        made._declared, made._name, made._write = declared, name, write
        return made

    __hash__ = tuple.__hash__

    @overload
    def __getitem__(self, place: SupportsIndex) -> V: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[V, ...]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice) and place.stop is not None and place.stop < 0:
            raise OutOfRange(
                f"{self._name}[:{place.stop}]: a rule keeps a number of values from the first on"
            )
        return super().__getitem__(place)

    def clear(self) -> None:
        """Remove all values."""
        self._write(())

    def _add(self, value: Any) -> None:
        if len(self) >= self._declared.room:
            raise BeyondBound(
                f"{self._name} is full: it has room for {self._declared.room}", self._declared.name
            )
        self._write((*self, value))


class QueueView(Values[V]):
    """A queue."""

    def send(self, value: V) -> None:
        """Add a value at the end. Raises `BeyondBound` if it is full."""
        self._add(value)

    def receive(self) -> V:
        """Take the first one. Raises `OutOfRange` where there is none."""
        if not self:
            raise OutOfRange(f"{self._name} is empty: nothing can be received")
        self._write(tuple(self[1:]))
        return self[0]


@dataclass(frozen=True, slots=True, init=False)
class Queue(SequenceField[QueueView[V], Sequence[V], V, At]):
    """A field that is a channel: first in, first out, of at most `room` values; empty at first.

    `wire = Queue(of=("request", "reply"), room=2, by=(nodes, nodes))`:
    `s.wire[a, b].send("reply")`, `s.wire[a, b].receive()` takes the first, `s.wire[a, b][0]` reads
    it, `len(...)`, `in`, `for`.
    A step that sends into a full one is left out, and counted as cut.
    """

    methods: ClassVar = {"send": Method("value"), "receive": Method(gives="value"), "clear": CLEAR}
    remedies: ClassVar = {
        **dict.fromkeys(("pop", "popleft", "get", "dequeue"), "Q.receive(), which takes the first"),
        **dict.fromkeys(("append", "put", "push", "add", "enqueue"), "Q.send(...)"),
    }

    def view(self, value: Any, name: str, write: Write) -> QueueView:
        """The queue."""
        return QueueView(self, value, name, write)


class BagView(Values[V]):
    """A bag. A loop goes through it in the checker's order."""

    def __getitem__(self, place: Any) -> Any:
        raise OutOfRange(f"{self._name}[{place}]: a bag has no order")

    def send(self, value: V) -> None:
        """Add one more of this value. Raises `BeyondBound` if it is full."""
        self._add(value)

    def remove(self, value: V) -> None:
        """Remove one of this value. Raises `OutOfRange` where there is none."""
        if value not in self:
            raise OutOfRange(f"{self._name} does not hold {value!r}")
        left = list(self)
        left.remove(value)
        self._write(tuple(left))


@dataclass(frozen=True, slots=True, init=False)
class Bag(SequenceField[BagView[V], Collection[V], V, At]):
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
        "clear": CLEAR,
    }
    remedies: ClassVar = {
        **dict.fromkeys(("append", "add", "put", "push"), "Q.send(...)"),
        **dict.fromkeys(("pop", "receive", "discard"), "Q.remove(...), of a value that is in it"),
    }
    is_sorted = True

    def view(self, value: Any, name: str, write: Write) -> BagView:
        """The bag."""
        return BagView(self, value, name, write)


class LogView(Values[V]):
    """A log."""

    def __setitem__(self, place: SupportsIndex, value: V) -> None:
        values = list(self)
        try:
            values[place] = value
        except IndexError:
            raise OutOfRange(f"{self._name}[{place}]: it holds {len(self)}") from None
        self._write(tuple(values))

    def append(self, value: V) -> None:
        """Add a value at the end. Raises `BeyondBound` if it is full."""
        self._add(value)

    def truncate(self, count: int) -> None:
        """Keep so many. Raises `OutOfRange` for fewer than none."""
        if count < 0:
            raise OutOfRange(f"{self._name} cannot keep {count}")
        self._write(tuple(self[:count]))


@dataclass(frozen=True, slots=True, init=False)
class Log(SequenceField[LogView[V], Sequence[V], V, At]):
    """A field that is a sequence which grows at its end, of at most `room` values; empty at first.

    `log = Log(of=range(1, terms + 1), room=entries, by=nodes)`: `s.log[node].append(term)`,
    `s.log[node][-1]`, `len(...)`, `s.log[node].truncate(2)` keeps two, `s.log[a][:n] == s.log[b]`.
    A step that appends to a full one is left out, and counted as cut.
    """

    methods: ClassVar = {"append": Method("value"), "truncate": Method("number"), "clear": CLEAR}
    remedies: ClassVar = {
        "pop": "Q.truncate(len(Q) - 1)",
        **dict.fromkeys(("add", "send", "push", "extend", "insert"), "Q.append(...)"),
    }
    adds = "append"

    def view(self, value: Any, name: str, write: Write) -> LogView:
        """The log."""
        return LogView(self, value, name, write)
