"""Fields of a user model that hold one value: what a state is made of, and what values there are.

Every declaration is checked as it is made. `BadProtocol` says what is wrong and what to write
instead. A field has its name from the class that it stands in, `term = Number(0, 3)`, or is given
it first, in a list: `Number("term", 0, 3)`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from waterline.model.core.state import OutOfRange
from waterline.model.own.names import (
    BadProtocol,
    Epochs,
    Index,
    Names,
    extent,
    require_index,
    require_name,
)
from waterline.model.own.typed import At, Held, Read

if TYPE_CHECKING:
    from typing import Self

    from waterline.model.own.typed import Said

NONE = -1
"""Number for None in a field of names."""
By = Index | tuple[Index, ...]
Write = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """Common part of all kinds of fields. `by` are the indices, empty for a single value.

    A `ghost` field only serves claims: no step's sentence mentions its changes.
    """

    name: str
    by: By = field(default=(), kw_only=True)
    doc: str = field(default="", kw_only=True)
    ghost: bool = field(default=False, kw_only=True)

    def _take(
        self, given: Sequence[Any], said: Mapping[str, Any], *wanted: str, **others: Any
    ) -> None:
        """Take the constructor's arguments: perhaps a name, then the `wanted` in their order.

        `others` are further options with their defaults. Raises `TypeError` for too few or too
        many, and `BadProtocol`.
        """
        name, *values = given if given and isinstance(given[0], str) else ("", *given)
        others = {"by": (), "doc": "", "ghost": False, **others}
        called = f"{type(self).__name__}.__init__()"
        for key in said:
            if key not in wanted and key not in others:
                raise TypeError(f"{called} got an unexpected keyword argument {key!r}")
        left = [key for key in wanted if key not in said]
        if len(values) != len(left):
            raise TypeError(f"{called} has other arguments")
        for key, value in {
            "name": name,
            **others,
            **dict(zip(left, values, strict=True)),
            **said,
        }.items():
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

    # --- an element's values: in plain Python, as the checker keeps them, and in words -----------

    @property
    def first(self) -> Any:
        """Initial value of an element, in plain Python."""
        return self.decode(self.range[0])

    def decode(self, kept: Any) -> Any:
        """Return the value in plain Python for which the checker keeps this."""
        return kept

    def encode(self, value: Any) -> Any:
        """Return the checker's form of a value that `accept` has returned."""
        return int(value)

    def accept(self, value: object, element: str) -> Any:
        """Return the value as a state holds it. Raises `OutOfRange` for one the field cannot have.

        `element` is its name in the message.
        """
        if self._has(value):
            return self.decode(self.encode(value))
        raise OutOfRange(f"{element} cannot be {value!r}: it is {self.python_domain}")

    def _has(self, value: Any) -> bool:
        """True if an element can have this value."""
        lo, hi = self.range
        return isinstance(value, int) and lo <= value <= hi

    @property
    def python_domain(self) -> str:
        """The values in plain Python, in words: `a number, 0 to 3`."""
        return f"a number, {self.domain}"

    @property
    def domain(self) -> str:
        """The values as a person reads them: `0 to 3`, `client0 to client2, or None`."""
        lo, hi = self.range
        return f"{lo} to {hi}"

    def describe(self, kept: Any) -> str:
        """Return the value as a person reads it: `yes`, `client0`, `{node0, node2}`."""
        return str(kept)

    def type_out(self, kept: Any) -> str:
        """Return the value as a file has it: `True`, `client0`, `'idle'`."""
        return self.describe(kept)

    def data(self, kept: Any) -> Any:
        """Return the value as data: a number, a word, a truth, a set, a list, a named tuple.

        A name that may be None is a tuple: empty, or with the name.
        """
        return self.decode(kept)

    def describe_change(self, was: Any, now: Any) -> str:
        """`client0 -> none`"""
        return f"{self.describe(was)} -> {self.describe(now)}"

    def show(self, value: Any) -> str:
        """Return the value as Python writes it."""
        return repr(value)

    def view(self, value: Any, name: str, write: Write) -> Any:
        """Return the value in plain Python as a rule sees it, with methods that change it.

        `name` is the element's in messages. `write` stores a new value.
        """
        return value

    @property
    def extents(self) -> tuple[int, ...]:
        """Number of elements in each direction, and the number of places in the last."""
        return (*map(extent, self.indices), *((self.slots,) if self.slots else ()))


@dataclass(frozen=True, slots=True, init=False)
class Flag(DeclaredField, Held[bool, bool, At]):
    """A field that is True or False; False at first."""

    @overload
    def __init__(self, **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(self: Flag[Any], name: str, /, **said: Unpack[Said[Any]]) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said)

    @property
    def range(self) -> tuple[int, int]:
        """False is 0, True is 1."""
        return 0, 1

    def decode(self, kept: Any) -> bool:
        """False for 0, True for 1."""
        return bool(kept)

    @property
    def python_domain(self) -> str:
        """`True or False`"""
        return "True or False"

    domain = python_domain

    def describe(self, kept: Any) -> str:
        """`yes`, `no`"""
        return "yes" if kept else "no"

    def type_out(self, kept: Any) -> str:
        """`True`, `False`"""
        return str(bool(kept))


@dataclass(frozen=True, slots=True, init=False)
class Number(DeclaredField, Held[int, int, At]):
    """A field of whole numbers from `lo` to `hi`, both included; `lo` at first."""

    lo: int
    hi: int

    @overload
    def __init__(self, lo: int, hi: int, **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Number[Any], name: str, /, lo: int, hi: int, **said: Unpack[Said[Any]]
    ) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "lo", "hi")

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
class Choice(DeclaredField, Held[str, str, At]):
    """A field that is one of several words; the first of them at first.

    `state = Choice("working", "done", by=rms)` is compared and assigned as text:
    `s.state[rm] == "done"`. In a list its name is the first of them.
    """

    values: tuple[str, ...]

    @overload
    def __init__(self, *words: str, **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Choice[Any], name: str, /, *words: str, **said: Unpack[Said[Any]]
    ) -> None: ...
    def __init__(self, *words: Any, **said: Any) -> None:
        name, *values = words or ("",)
        self._take((), said)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", tuple(values))
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

    def decode(self, kept: Any) -> str:
        """The word."""
        return self.values[kept]

    def encode(self, value: Any) -> int:
        """The place of the word."""
        return self.values.index(value)

    def _has(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.values

    @property
    def python_domain(self) -> str:
        """`one of 'idle', 'busy'`"""
        return f"one of {', '.join(map(repr, self.values))}"

    @property
    def domain(self) -> str:
        """`'idle' or 'busy'`"""
        return " or ".join(map(repr, self.values))

    def describe(self, kept: Any) -> str:
        """`idle`"""
        return self.values[kept]

    def type_out(self, kept: Any) -> str:
        """`'idle'`"""
        return repr(self.values[kept])


@dataclass(frozen=True, slots=True, init=False)
class Name(DeclaredField, Held[Read, Read, At]):
    """A field that holds a name of a sort, the first one at first; or None at first, if `or_none`.

    `leader = Name(nodes, or_none=True)` is compared with None, with arguments of actions and with
    what loops count: `s.leader == node`.
    """

    of: Names
    or_none: bool = field(default=False, kw_only=True)

    @overload
    def __init__(self: Name[int, At], of: Names, **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Name[int | None, At], of: Names, *, or_none: Literal[True], **said: Unpack[Said[At]]
    ) -> None: ...
    @overload
    def __init__(
        self: Name[Any, Any],
        name: str,
        /,
        of: Names,
        *,
        or_none: bool = False,
        **said: Unpack[Said[Any]],
    ) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "of", or_none=False)

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        if not isinstance(self.of, Names):
            raise BadProtocol(f"field {self.name} holds names of {self.of!r}; give a sort of Names")

    @property
    def range(self) -> tuple[int, int]:
        """Least and greatest number; None is -1."""
        return (NONE if self.or_none else 0), self.of._last

    def decode(self, kept: Any) -> int | None:
        """The number of the name, or None."""
        return None if kept == NONE else kept

    def encode(self, value: Any) -> int:
        """The number of the name; -1 for None."""
        return NONE if value is None else int(value)

    def _has(self, value: Any) -> bool:
        if value is None:
            return self.or_none
        return isinstance(value, int) and 0 <= value < self.of.count

    @property
    def python_domain(self) -> str:
        """`the number of a client, 0 to 2, or None`"""
        names = f"the number of a {self.of.name}, 0 to {self.of.count - 1}"
        return f"{names}, or None" if self.or_none else names

    @property
    def domain(self) -> str:
        """`client0 to client2, or None`"""
        names = f"{self.of.describe(0)} to {self.of.describe(self.of._last)}"
        return f"{names}, or None" if self.or_none else names

    def describe(self, kept: Any) -> str:
        """`client0`, `none`"""
        return "none" if kept == NONE else self.of.describe(kept)

    def type_out(self, kept: Any) -> str:
        """`client0`, `None`"""
        return "None" if kept == NONE else self.of.describe(kept)

    def data(self, kept: Any) -> Any:
        """The number of the name; as a tuple of one or none if it may be None."""
        if self.or_none:
            return () if kept == NONE else (kept,)
        return kept


@dataclass(frozen=True, slots=True, init=False)
class Epoch(Number[At]):
    """A field that holds an epoch of a sort of `Epochs`; 0, before all of them, at first.

    `term = Epoch(terms, by=nodes)` is copied, and compared with epochs and 0:
    `s.term[a] < s.term[b]`. A new one is an argument: `when(term > s.term[node])`.
    """

    of: Epochs

    @overload
    def __init__(self, of: Epochs, **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Epoch[Any], name: str, /, of: Epochs, *, least: int = 0, **said: Unpack[Said[Any]]
    ) -> None: ...
    def __init__(self, *given: Any, least: int = 0, **said: Any) -> None:
        self._take(given, said, "of", lo=least, hi=least)

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        if not isinstance(self.of, Epochs):
            raise BadProtocol(f"field {self.name} holds epochs of {self.of!r}; give Epochs")
        object.__setattr__(self, "hi", self.of._last)
