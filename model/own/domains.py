"""Domains: finite sets of names, of numbers, of words, and of structs, made of several parts."""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, overload

from waterline.model.own.names import BadProtocol, Epochs, Names
from waterline.model.own.plain_fields import Choice, DeclaredField, Epoch, Flag, Name, Number
from waterline.model.own.typed import Among, At, Held, Made

if TYPE_CHECKING:
    from waterline.model.own.typed import Said

STRUCT_MAX = 1 << 60
"""Maximum number of values of a struct: each is one number."""


@dataclass(frozen=True, slots=True, init=False)
class Struct(Among[Made]):
    """The values that a named tuple may have: `Struct(Vote, to=nodes, term=range(terms + 1))`.

    Each part has a domain; one that is annotated bool needs none, and one of names that is
    annotated `int | None` may be None. A rule makes one as `Vote(to=other, term=s.term[node])`, and
    reads `vote.term`.
    """

    kind: type[Made]
    parts: tuple[tuple[str, Flag | Number | Choice | Name], ...]

    def __init__(self, kind: type[Made], /, **parts: Domain | type[bool]) -> None:
        called = getattr(kind, "__name__", repr(kind))
        names: tuple[str, ...] = getattr(kind, "_fields", ())
        if not isinstance(kind, type) or not issubclass(kind, tuple) or not names:
            raise BadProtocol(
                f"{called} is no named tuple; write class {called}(NamedTuple) with a line for "
                "each part, as term: int"
            )
        for name in parts:
            if name not in names:
                raise BadProtocol(f"{called} has no part {name!r}; it has {', '.join(names)}")
        hints = typing.get_type_hints(kind)
        made = tuple(
            (name, _part(called, name, parts.get(name), hints.get(name))) for name in names
        )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "parts", made)
        if self.size > STRUCT_MAX:
            raise BadProtocol(f"{called} has {self.size} values; give its parts smaller domains")

    @property
    def name(self) -> str:
        """Name of the named tuple."""
        return self.kind.__name__

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each part."""
        return tuple(part.range[1] - part.range[0] + 1 for _, part in self.parts)

    @property
    def value(self) -> Value:
        """The field that holds one, whatever it is called."""
        return Value(self.name, self)

    def part(self, name: str) -> Flag | Number | Choice | Name | None:
        """The field that holds a part of this name."""
        return dict(self.parts).get(name)

    def show(self, parts: typing.Iterable[str]) -> str:
        """Write a struct with these parts: `Vote(to=node0, term=1)`."""
        pairs = zip(self.parts, parts, strict=True)
        return f"{self.name}({', '.join(f'{name}={each}' for (name, _), each in pairs)})"

    def weight(self, name: str) -> int:
        """Return the growth of a value's number where this part grows by one."""
        names = [each for each, _ in self.parts]
        return math.prod(self.sizes[names.index(name) + 1 :])

    def number(self, kept: typing.Sequence[int]) -> int:
        """The number of a value whose parts are kept as these numbers."""
        found = 0
        for (_, part), size, each in zip(self.parts, self.sizes, kept, strict=True):
            found = found * size + each - part.range[0]
        return found

    def digits(self, number: int) -> list[int]:
        """Return the numbers of a value's parts; the inverse of `number`."""
        found = []
        for (_, part), size in zip(reversed(self.parts), reversed(self.sizes), strict=True):
            number, digit = divmod(number, size)
            found.append(digit + part.range[0])
        return found[::-1]


def _part(called: str, name: str, domain: Any, hint: Any) -> Flag | Number | Choice | Name:
    what = f"part {name} of {called}"
    if domain is None and hint is not bool:
        raise BadProtocol(f"{what} has no domain; write {name}=... in Struct({called}, ...)")
    if domain is bool or domain is None:
        return Flag(name)
    if isinstance(domain, Names) and type(None) in typing.get_args(hint):
        return Name(name, domain, or_none=True)
    found = plain_field(name, domain, what=what)
    if isinstance(found, Value):
        raise BadProtocol(f"{what} is a struct itself; give its parts to {called}")
    return found


Domain = Names | Epochs | int | range | tuple[str, ...] | Struct[Any]
"""A finite set of values: names or epochs of a sort, the numbers 0..n-1 or of a range, words, or
structs.
"""


@dataclass(frozen=True, slots=True, init=False)
class Value(DeclaredField, Held[Made, Made, At]):
    """A field that holds a struct: `last = Value(of=Struct(Vote, to=nodes), by=nodes)`.

    At first each of its parts has its first value.
    """

    of: Struct[Any]

    @overload
    def __init__(self, of: Struct[Made], **said: Unpack[Said[At]]) -> None: ...
    @overload
    def __init__(
        self: Value[Any, Any], name: str, /, of: Struct[Any], **said: Unpack[Said[Any]]
    ) -> None: ...
    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "of")

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        if not isinstance(self.of, Struct):
            raise BadProtocol(f"field {self.name} is of {self.of!r}; give a Struct")

    @property
    def range(self) -> tuple[int, int]:
        """A struct is one number: its parts are the digits, the first one the greatest."""
        return 0, self.of.size - 1

    def decode(self, kept: Any) -> Any:
        """The named tuple."""
        return self.of.kind(*(part.decode(each) for _, part, each in self._parts(kept)))

    def encode(self, value: Any) -> int:
        """The number whose digits are the parts."""
        parts = zip(self.of.parts, value, strict=True)
        return self.of.number([part.encode(each) for (_, part), each in parts])

    def accept(self, value: Any, element: str) -> Any:
        """Return the named tuple, with parts that are accepted each. Raises `OutOfRange`."""
        if not self._has(value):
            return DeclaredField.accept(self, value, element)
        parts = zip(self.of.parts, value, strict=True)
        return self.of.kind(
            *(part.accept(each, f"{element}: {name}") for (name, part), each in parts)
        )

    def _has(self, value: Any) -> bool:
        return isinstance(value, self.of.kind)

    @property
    def python_domain(self) -> str:
        """`a Vote(to=node0 to node2, term=0 to 2)`"""
        return f"a {self.domain}"

    @property
    def domain(self) -> str:
        """`Vote(to=node0 to node2, term=0 to 2)`"""
        return self.of.show(part.domain for _, part in self.of.parts)

    def describe(self, kept: Any) -> str:
        """`Vote(to=node0, term=1)`"""
        return self.of.show(part.describe(each) for _, part, each in self._parts(kept))

    def type_out(self, kept: Any) -> str:
        """`Vote(to=node0, term=1)`, its words in quotes."""
        return self.of.show(part.type_out(each) for _, part, each in self._parts(kept))

    def data(self, kept: Any) -> Any:
        """The named tuple, of data."""
        return self.of.kind._make(part.data(each) for _, part, each in self._parts(kept))

    def _parts(self, kept: int) -> typing.Iterator[tuple[str, DeclaredField, int]]:
        """Each part by name, with its field and its number."""
        for (name, part), each in zip(self.of.parts, self.of.digits(kept), strict=True):
            yield name, part, each


PlainField = Flag | Number | Choice | Name | Value
"""Field that holds one value, or one for each index."""


def plain_field(name: str, domain: Domain, *, what: str = "") -> Number | Choice | Name | Value:
    """The field that holds one value of a domain. Raises `BadProtocol`, of `what`, for none."""
    match domain:
        case Names():
            return Name(name, domain)
        case Epochs():
            return Epoch(name, domain, least=1)
        case range(step=1) if len(domain) > 0:
            return Number(name, domain.start, domain.stop - 1)
        case Struct():
            return domain.value
        case tuple() if domain and all(isinstance(word, str) for word in domain):
            return Choice(name, *domain)
    if type(domain) is int and domain >= 1:
        return Number(name, 0, domain - 1)
    raise BadProtocol(
        f"{what or f'field {name}'} is of {domain!r}; give a sort of Names, a number n for 0..n-1, "
        "a range, or words as ('request', 'reply')"
    )
