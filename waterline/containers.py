"""Sets, queues and logs as a rule sees them in plain Python.

Each is a snapshot of a state's field, and equal to Python's set or tuple of its content. A method
that changes one writes the new value into its state, and is refused unless that is a draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

from waterline.model.core.state import OutOfRange
from waterline.model.own.fields import AnyField, Bag, Choice, Log, Queue, SequenceField, Set
from waterline.model.own.questions import BeyondBound

Write = Callable[[Any], None]


def view_of(declared: AnyField, value: Any, name: str, write: Write) -> Any:
    """Return a rule's view of a value: the value itself, unless it can be changed in its place."""
    match declared:
        case Set():
            return Members(declared, value, write)
        case Queue():
            return Channel(declared, value, name, write)
        case Log():
            return Entries(declared, value, name, write)
        case Bag():
            return Multiset(declared, value, name, write)
    return value


class Members(set[Any]):
    """A set of a field. A loop goes through it in the order of the domain, as in a check."""

    def __init__(self, declared: Set, values: Any, write: Write) -> None:
        super().__init__(values)
        self._declared = declared
        self._write = write

    def __iter__(self) -> Iterator[Any]:
        element = self._declared.element
        if isinstance(element, Choice):
            words = element.values
            return iter(sorted(set.__iter__(self), key=words.index))
        return iter(sorted(set.__iter__(self)))

    def __repr__(self) -> str:
        return show(frozenset(self), self._declared)

    def _other(self, values: Any) -> Members:
        return Members(self._declared, values, self._write)

    def _set(self, values: frozenset[Any]) -> None:
        self._write(values)
        set.clear(self)
        set.update(self, values)

    def add(self, value: Any) -> None:
        """The set has this member."""
        self._set(frozenset({*set.__iter__(self), value}))

    def discard(self, value: Any) -> None:
        """The set does not have this member."""
        self._set(frozenset(set.__iter__(self)) - {value})

    def clear(self) -> None:
        """The set is empty."""
        self._set(frozenset())

    def __or__(self, other: Any) -> Any:
        return self._make(set.__or__(self, other))

    def __and__(self, other: Any) -> Any:
        return self._make(set.__and__(self, other))

    def __xor__(self, other: Any) -> Any:
        return self._make(set.__xor__(self, other))

    def __sub__(self, other: Any) -> Any:
        return self._make(set.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return self._make(set(other) - set(set.__iter__(self)))

    # A set that stands first is asked last: this class is a kind of set.
    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def _make(self, values: Any) -> Any:
        return values if values is NotImplemented else self._other(set.__iter__(values))


class _Values(tuple[Any, ...]):
    """Content of a queue or a log, the first one first."""

    _declared: Any  # a field of a class reads as its value, to a type checker
    _name: str
    _write: Write

    def __new__(cls, declared: SequenceField, values: Any, name: str, write: Write) -> _Values:
        made = super().__new__(cls, values)
        made._declared, made._name, made._write = declared, name, write
        return made

    __hash__ = tuple.__hash__

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice) and place.stop is not None and place.stop < 0:
            raise OutOfRange(
                f"{self._name}[:{place.stop}]: a rule keeps a number of values from the first on"
            )
        return super().__getitem__(place)

    def __setitem__(self, place: SupportsIndex, value: Any) -> None:
        values = list(self)
        try:
            values[place] = value
        except IndexError:
            raise OutOfRange(f"{self._name}[{place}]: it holds {len(self)}") from None
        self._write(tuple(values))

    def clear(self) -> None:
        """Remove all values."""
        self._write(())

    def _add(self, value: Any) -> None:
        if len(self) >= self._declared.room:
            raise BeyondBound(
                f"{self._name} is full: it has room for {self._declared.room}", self._declared.name
            )
        self._write((*self, value))


class Channel(_Values):
    """A queue."""

    def send(self, value: Any) -> None:
        """Add a value at the end. Raises `BeyondBound` if it is full."""
        self._add(value)

    def receive(self) -> Any:
        """Take the first one. Raises `OutOfRange` where there is none."""
        if not self:
            raise OutOfRange(f"{self._name} is empty: nothing can be received")
        self._write(tuple(self[1:]))
        return self[0]


class Multiset(_Values):
    """A bag. A loop goes through it in the checker's order."""

    def __getitem__(self, place: Any) -> Any:
        raise OutOfRange(f"{self._name}[{place}]: a bag has no order")

    def send(self, value: Any) -> None:
        """Add one more of this value. Raises `BeyondBound` if it is full."""
        self._add(value)

    def remove(self, value: Any) -> None:
        """Remove one of this value. Raises `OutOfRange` where there is none."""
        if value not in self:
            raise OutOfRange(f"{self._name} does not hold {value!r}")
        left = list(self)
        left.remove(value)
        self._write(tuple(left))


class Entries(_Values):
    """A log."""

    def append(self, value: Any) -> None:
        """Add a value at the end. Raises `BeyondBound` if it is full."""
        self._add(value)

    def truncate(self, count: int) -> None:
        """Keep so many. Raises `OutOfRange` for fewer than none."""
        if count < 0:
            raise OutOfRange(f"{self._name} cannot keep {count}")
        self._write(tuple(self[:count]))


def show(value: Any, declared: AnyField) -> str:
    """A value as Python writes it; sets in the order of their domain."""
    if isinstance(declared, Set):
        order = declared.element.values.index if isinstance(declared.element, Choice) else None
        return f"{{{', '.join(map(repr, sorted(value, key=order)))}}}" if value else "set()"
    return repr(tuple(value)) if isinstance(declared, SequenceField) else repr(value)
