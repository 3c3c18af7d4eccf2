"""Sets of values of a domain: the field, and the set of a state as a rule sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, overload

from waterline.model.own.domains import Domain, Value
from waterline.model.own.names import BadProtocol, Epochs
from waterline.model.own.placed import CLEAR, Container, Method
from waterline.model.own.plain_fields import DeclaredField, Write
from waterline.model.own.typed import Among, At, V

if TYPE_CHECKING:
    from waterline.model.own.typed import Said

MEMBERS_MAX = 62
"""A set is kept as one number, with a bit for each that may be a member."""


class SetView(set[V]):
    """A set of a field. A loop goes through it in the order of the domain, as in a check."""

    def __init__(self, declared: Any, values: Any, write: Write) -> None:
        super().__init__(values)
        self._declared = declared
        self._write = write

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__(), key=self._declared.element.encode))

    def __repr__(self) -> str:
        return self._declared.show(frozenset(self))

    def _other(self, values: Any) -> SetView:
        return SetView(self._declared, values, self._write)

    def _set(self, values: frozenset[Any]) -> None:
        self._write(values)
        set.clear(self)
        set.update(self, values)

    def add(self, value: V) -> None:
        """The set has this member."""
        self._set(frozenset({*set.__iter__(self), value}))

    def discard(self, value: V) -> None:  # type: ignore[override]  # one of its domain
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
        return self._make(set(other).difference(self))

    # A set that stands first is asked last: this class is a kind of set.
    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def _make(self, values: Any) -> Any:
        return values if values is NotImplemented else self._other(set.__iter__(values))


@dataclass(frozen=True, slots=True, init=False)
class Set(Container[SetView[V], AbstractSet[V], V, At]):
    """A field that is a set of values of a domain; the empty set at first.

    `votes = Set(of=nodes, by=nodes)` is written like a set of Python: `n in s.votes[node]`,
    `|`, `&`, `-`, `<=`, `len(...)`, `s.votes[node] |= {n}`, `for n in s.votes[node]`.
    """

    methods: ClassVar = {"add": Method("value"), "discard": Method("value"), "clear": CLEAR}
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

    def decode(self, kept: Any) -> frozenset[Any]:
        """The members."""
        return frozenset(map(self.element.decode, self.members(kept)))

    def encode(self, value: Any) -> int:
        """The number with a bit for each member."""
        lo, _ = self.element.range
        return sum(1 << self.element.encode(each) - lo for each in value)

    def accept(self, value: Any, element: str) -> Any:
        """Return the set, whose members are accepted each. Raises `OutOfRange`."""
        if not self._has(value):
            return DeclaredField.accept(self, value, element)
        return frozenset(self.element.accept(each, element) for each in value)

    def _has(self, value: Any) -> bool:
        return isinstance(value, set | frozenset)

    @property
    def python_domain(self) -> str:
        """`a set, each member one of 'idle', 'busy'`"""
        return f"a set, each member {self.element.python_domain}"

    def describe(self, kept: Any) -> str:
        """`{node0, node2}`"""
        return f"{{{', '.join(map(self.element.describe, self.members(kept)))}}}"

    def type_out(self, kept: Any) -> str:
        """`{'request', 'reply'}`"""
        return f"{{{', '.join(map(self.element.type_out, self.members(kept)))}}}"

    def data(self, kept: Any) -> frozenset[Any]:
        """The members as data."""
        return frozenset(map(self.element.data, self.members(kept)))

    def view(self, value: Any, name: str, write: Write) -> SetView:
        """The set; a loop goes through it in the order of the domain."""
        return SetView(self, value, write)

    def show(self, value: Any) -> str:
        """`{0, 2}`, in the order of the domain."""
        members = sorted(value, key=self.element.encode)
        return f"{{{', '.join(map(repr, members))}}}" if members else "set()"
