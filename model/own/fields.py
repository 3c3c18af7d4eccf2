"""Fields of a user model: what a state is made of, and the finite domains of their values.

Every declaration is checked as it is made. `BadProtocol` says what is wrong and what to write
instead.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field

from model.core.renaming import Sort
from model.own.any_number import AnyNumber

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}", re.ASCII)
NONE = -1
"""How a field of names holds None."""


class BadProtocol(ValueError):
    """A declaration means nothing; the message names it and says what to write instead."""


@dataclass(frozen=True, slots=True)
class Names:
    """A sort of names: `node = Names("node", nodes)` are node0, node1 and so on.

    An argument of an action that is called like it ranges over it. `s.nodes` is how many there are,
    in every function that is given a state (processes of process, replies of reply); `plural` is
    another word for that. A field `by=node`
    has an element for each.
    """

    name: str
    count: int
    plural: str = ""

    def __post_init__(self) -> None:
        require_name("a sort of names", self.name)
        if not self.plural:
            object.__setattr__(self, "plural", plural_of(self.name))
        require_name("the plural of a sort", self.plural)
        if isinstance(self, Values) and isinstance(self.count, AnyNumber):
            object.__setattr__(self, "count", self.count.handed_to(self.name))
        if type(self.count) is not int or self.count < 1:
            raise BadProtocol(
                f"{self.plural} are {self.count!r}; there must be one or more: say how many, as "
                f"Names({self.name!r}, 2)"
            )

    @property
    def sort(self) -> Sort:
        """What renames them."""
        return Sort(self.plural)

    def describe(self, number: int) -> str:
        """`node1`"""
        return f"{self.name}{number}"


@dataclass(frozen=True, slots=True)
class Values(Names):
    """A sort of values that rules copy and compare for being the same: `Values("record", records)`.

    An argument of an action that is called like it is any of them. Nothing has an element for each;
    so there may be any number of them without bounds (docs/unbounded.md).
    """


@dataclass(frozen=True, slots=True)
class Epochs:
    """A sort of epochs, which rules copy and compare: `term = Epochs("term", terms)`.

    They are 1 to `highest`; 0, which an `Epoch` has at first, is before all of them. An argument of
    an action that is called like the sort is any of them, and a step with one above `highest` is
    cut; `plural` is another word for what is cut. There may be any number of them without bounds
    (docs/unbounded.md).
    """

    name: str
    highest: int
    plural: str = ""

    def __post_init__(self) -> None:
        require_name("a sort of epochs", self.name)
        if not self.plural:
            object.__setattr__(self, "plural", plural_of(self.name))
        require_name("the plural of a sort", self.plural)
        if isinstance(self.highest, AnyNumber):
            object.__setattr__(self, "highest", self.highest.handed_to(self.name))
        if type(self.highest) is not int or not 1 <= self.highest <= EPOCHS_MAX:
            raise BadProtocol(
                f"the highest {self.name} is {self.highest!r}; give a whole number from 1 to "
                f"{EPOCHS_MAX}, as Epochs({self.name!r}, 3)"
            )


EPOCHS_MAX = 1 << 15
"""The arguments of an action are numbered, and an epoch may be one."""
Index = Names | int
"""By what a field has elements: names, or a number n for 0..n-1."""


def extent(index: Index) -> int:
    """How many elements that is."""
    return index.count if isinstance(index, Names) else index


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """What all kinds of fields have. `by` is what there is an element for, nothing for one value.

    One that is a `ghost` only serves claims: no step's sentence tells its changes.
    """

    name: str
    by: Index | tuple[Index, ...] = field(default=(), kw_only=True)
    doc: str = field(default="", kw_only=True)
    ghost: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        require_name("a field", self.name)
        for index in self.indices:
            require_index(f"field {self.name}", index)

    @property
    def indices(self) -> tuple[Index, ...]:
        """By what it has elements; nothing for a single value."""
        return self.by if isinstance(self.by, tuple) else (self.by,)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that an element is kept as."""
        raise NotImplementedError

    @property
    def slots(self) -> int:
        """How many places for values an element has; 0 where it is one value."""
        return 0

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements there are in each direction, and in the last how many places."""
        return (*map(extent, self.indices), *((self.slots,) if self.slots else ()))


@dataclass(frozen=True, slots=True)
class Flag(DeclaredField):
    """A field that is True or False; False at first."""

    @property
    def range(self) -> tuple[int, int]:
        """False is 0, True is 1."""
        return 0, 1


@dataclass(frozen=True, slots=True)
class Number(DeclaredField):
    """A field of whole numbers from `lo` to `hi`, both included; `lo` at first."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        DeclaredField.__post_init__(self)
        for bound in (self.lo, self.hi):
            if type(bound) is not int or abs(bound) > 1 << 62:
                what = "give a whole number from -2**62 to 2**62"
                raise BadProtocol(f"field {self.name} goes up to {bound!r}; {what}")
        if self.lo > self.hi:
            raise BadProtocol(
                f"field {self.name} goes from {self.lo} to {self.hi}: that is empty; "
                "give the least value, then the greatest"
            )

    @property
    def range(self) -> tuple[int, int]:
        """From the least to the greatest."""
        return self.lo, self.hi


@dataclass(frozen=True, slots=True, init=False)
class Choice(DeclaredField):
    """A field that is one of several words; the first of them at first.

    `Choice("state", "working", "done", by=rm)` is compared and assigned as text:
    `s.state[rm] == "done"`.
    """

    values: tuple[str, ...]

    def __init__(
        self,
        name: str,
        *values: str,
        by: Index | tuple[Index, ...] = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        given = {"name": name, "by": by, "doc": doc, "ghost": ghost, "values": values}
        for attribute, value in given.items():
            object.__setattr__(self, attribute, value)
        DeclaredField.__post_init__(self)
        if not values or not all(isinstance(value, str) and value for value in values):
            raise BadProtocol(f"field {name} has no choices; name them, as Choice(name, 'a', 'b')")
        if len(set(values)) < len(values):
            raise BadProtocol(f"field {name} has a choice twice; give each once")

    @property
    def range(self) -> tuple[int, int]:
        """A choice is kept as its place."""
        return 0, len(self.values) - 1


@dataclass(frozen=True, slots=True)
class Name(DeclaredField):
    """A field that holds a name of a sort, the first one at first; or None at first, if `or_none`.

    `Name("leader", node, or_none=True)` is compared with None, with arguments of actions and with
    what loops count: `s.leader == node`.
    """

    of: Names
    or_none: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        DeclaredField.__post_init__(self)
        if not isinstance(self.of, Names):
            raise BadProtocol(f"field {self.name} holds names of {self.of!r}; give a sort of Names")
        if isinstance(self.of, Values) != isinstance(self, Value):
            kind, sort = ("Value", "Values") if isinstance(self.of, Values) else ("Name", "Names")
            raise BadProtocol(
                f"field {self.name} is of {self.of.plural}, a sort of {sort}; write "
                f"{kind}({self.name!r}, {self.of.name})"
            )

    @property
    def range(self) -> tuple[int, int]:
        """None is -1."""
        return (NONE if self.or_none else 0), self.of.count - 1


@dataclass(frozen=True, slots=True)
class Value(Name):
    """A field that holds a value of a sort of `Values`; or None at first, if `or_none`.

    `Value("stored", record, or_none=True)` is copied, and compared with values and None by == and
    != alone.
    """


@dataclass(frozen=True, slots=True, init=False)
class Epoch(Number):
    """A field that holds an epoch of a sort of `Epochs`; 0, before all of them, at first.

    `Epoch("term", term, by=node)` is copied, and compared with epochs and 0:
    `s.term[a] < s.term[b]`. A new one is an argument: `when(term > s.term[node])`.
    """

    of: Epochs

    def __init__(
        self,
        name: str,
        of: Epochs,
        *,
        least: int = 0,
        by: Index | tuple[Index, ...] = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        if not isinstance(of, Epochs):
            raise BadProtocol(f"field {name} holds epochs of {of!r}; give a sort of Epochs")
        given = {"name": name, "by": by, "doc": doc, "ghost": ghost, "of": of}
        for attribute, value in {**given, "lo": least, "hi": of.highest}.items():
            object.__setattr__(self, attribute, value)
        Number.__post_init__(self)


PlainField = Flag | Number | Choice | Name
"""What holds one value, or one for each index."""
Domain = Names | Epochs | int | range | tuple[str, ...]
"""A finite set of values: names or epochs of a sort, the numbers 0..n-1 or of a range, or words."""


def plain_field(name: str, domain: Domain, *, what: str = "") -> Number | Choice | Name:
    """The field that holds one value of a domain. Raises `BadProtocol`, of `what`, for none."""
    match domain:
        case Values():
            return Value(name, domain)
        case Names():
            return Name(name, domain)
        case Epochs():
            return Epoch(name, domain, least=1)
        case range(step=1) if len(domain) > 0:
            return Number(name, domain.start, domain.stop - 1)
        case tuple() if domain and all(isinstance(word, str) for word in domain):
            return Choice(name, *domain)
    if type(domain) is int and domain >= 1:
        return Number(name, 0, domain - 1)
    raise BadProtocol(
        f"{what or f'field {name}'} is of {domain!r}; give a sort of Names, a number n for 0..n-1, "
        "a range, or words as ('request', 'reply')"
    )


MEMBERS_MAX = 62
"""A set is kept as one number, with a bit for each that may be a member."""


@dataclass(frozen=True, slots=True)
class Set(DeclaredField):
    """A field that is a set of values of a domain; the empty set at first.

    `Set("votes", node, by=node)` is written like a set of Python: `n in s.votes[node]`, `|`, `&`,
    `-`, `<=`, `len(...)`, `s.votes[node] |= {n}`, `for n in s.votes[node]`.
    """

    of: Domain

    def __post_init__(self) -> None:
        DeclaredField.__post_init__(self)
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


@dataclass(frozen=True, slots=True)
class _Sequence(DeclaredField):
    of: Domain
    room: int

    def __post_init__(self) -> None:
        DeclaredField.__post_init__(self)
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


@dataclass(frozen=True, slots=True)
class Queue(_Sequence):
    """A field that is a channel: first in, first out, of at most `room` values; empty at first.

    `Queue("wire", of=("request", "reply"), room=2, by=(node, node))`: `s.wire[a, b].send("reply")`,
    `s.wire[a, b].receive()` takes the first, `s.wire[a, b][0]` reads it, `len(...)`, `in`, `for`.
    A step that sends into a full one is left out, and counted as cut.
    """


@dataclass(frozen=True, slots=True)
class Log(_Sequence):
    """A field that is a sequence which grows at its end, of at most `room` values; empty at first.

    `Log("log", of=range(1, terms + 1), room=entries, by=node)`: `s.log[node].append(term)`,
    `s.log[node][-1]`, `len(...)`, `s.log[node].truncate(2)` keeps two, `s.log[a][:n] == s.log[b]`.
    A step that appends to a full one is left out, and counted as cut.
    """


AnyField = Flag | Number | Choice | Name | Set | Queue | Log
Sequenced = Queue | Log


def plural_of(name: str) -> str:
    """`nodes`, `processes`, `replies`"""
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in ("", *"aeiou"):
        return f"{name[:-1]}ies"
    return f"{name}s"


def require_name(what: str, name: object) -> None:
    """Refuse what is no name of letters, digits and _, and a word of Python's."""
    if isinstance(name, str) and keyword.iskeyword(name):
        raise BadProtocol(f"{what} is called {name!r}, a word of Python's; call it otherwise")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise BadProtocol(f"{what} is called {name!r}; use letters, digits and _ alone")


def require_index(what: str, index: object) -> None:
    """Refuse what is neither a sort nor a number of elements."""
    if isinstance(index, Values):
        raise BadProtocol(
            f"{what} has an element for each of {index.plural}, which are Values; make them Names, "
            "or keep a value in a Value"
        )
    if isinstance(index, Names) or (type(index) is int and index >= 1):
        return
    raise BadProtocol(f"{what} is indexed by {index!r}; use a sort of Names, or a number from 1")
