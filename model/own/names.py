"""Sorts of names, and what declarations may be called."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from waterline.model.core.renaming import Sort
from waterline.model.own.typed import Among, Counted

_OPERATIONS = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift"),
    *("and", "or", "xor", "radd", "rsub", "rmul", "rfloordiv", "rtruediv", "rmod", "rpow"),
    *("rlshift", "rrshift", "rand", "ror", "rxor", "lt", "le", "gt", "ge", "eq", "ne"),
    *("neg", "pos", "abs", "invert", "index", "int", "float", "bool", "iter", "len", "contains"),
    *("getitem", "round", "trunc", "divmod", "rdivmod"),
)


class NumberUsed(ValueError):
    """A protocol depends on a bound that is to be any number."""


class AnyNumber:
    """The bound `name`; `sorts` are the names of those that were declared with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sorts: list[str] = []

    def __repr__(self) -> str:
        return f"any number of {self.name}"


def _refusing(self: AnyNumber, *others: Any) -> NoReturn:
    raise NumberUsed(
        f"{self.name} is any number without bounds, and only a sort of Epochs or Opaque can have it"
    )


for _operation in _OPERATIONS:
    setattr(AnyNumber, f"__{_operation}__", _refusing)
AnyNumber.__hash__ = _refusing  # type: ignore[method-assign,assignment]  # as the others


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}", re.ASCII)


class BadProtocol(ValueError):
    """A declaration means nothing; the message names it and says what to write instead."""


@dataclass(frozen=True, slots=True)
class Names(Counted, Among[int]):
    """A sort of names: `nodes = Names("node", 3)` are node0, node1 and node2.

    An argument of an action that is called like one of them ranges over them. `s.nodes` is how many
    there are, in every function that is given a state. A field `by=nodes` has an element for each.

    In a class of fields it is called by its plural, and how many there are is a bound, unless that
    is `fixed`. Elsewhere `plural` is that word: without it nodes of node, processes of process,
    replies of reply.
    """

    name: str
    count: int
    plural: str = ""
    fixed: bool = field(default=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        require_name("a sort of names", self.name)
        if not self.plural:
            object.__setattr__(self, "plural", plural_of(self.name))
        require_name("the plural of a sort", self.plural)
        if isinstance(self, Opaque) and isinstance(self.count, AnyNumber):
            self.count.sorts.append(self.name)
            return
        if type(self.count) is not int or self.count < 1:
            raise BadProtocol(
                f"{self.plural} are {self.count!r}; there must be one or more: say how many, as "
                f"Names({self.name!r}, 2)"
            )

    @property
    def sort(self) -> Sort:
        """Sort that renamings act on."""
        return Sort(self.plural)

    @property
    def _last(self) -> int:
        """The greatest number of one."""
        return 0 if isinstance(self.count, AnyNumber) else self.count - 1

    def describe(self, number: int) -> str:
        """`node1`"""
        return f"{self.name}{number}"


@dataclass(frozen=True, slots=True)
class Opaque(Names):
    """A sort of opaque values, which rules only copy and compare for being the same.

    `records = Opaque("record", 2)`; a field holds one as `last = Name(records)`. Nothing has an
    element for each; so there may be any number of them without bounds (docs/unbounded.md).
    """


@dataclass(frozen=True, slots=True)
class Epochs(Among[int]):
    """A sort of epochs, which rules copy and compare: `terms = Epochs("term", 3)`.

    They are 1 to `highest`; 0, which an `Epoch` has at first, is before all of them. An argument of
    an action that is called like one of them ranges over them, and a step with one above `highest`
    is cut. There may be any number of them without bounds (docs/unbounded.md).

    In a class of fields the sort is called by its plural, and the highest is a bound. Elsewhere
    `plural` is that word.
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
            self.highest.sorts.append(self.name)
            return
        if type(self.highest) is not int or not 1 <= self.highest <= EPOCHS_MAX:
            raise BadProtocol(
                f"the highest {self.name} is {self.highest!r}; give a whole number from 1 to "
                f"{EPOCHS_MAX}, as Epochs({self.name!r}, 3)"
            )

    @property
    def _last(self) -> int:
        """The highest number of one."""
        return 1 if isinstance(self.highest, AnyNumber) else self.highest


EPOCHS_MAX = 1 << 15
"""The arguments of an action are numbered, and an epoch may be one."""
Index = Names | int
"""Index of a field's elements: names, or a number n for 0..n-1."""


def extent(index: Index) -> int:
    """Return the number of elements of an index."""
    return index.count if isinstance(index, Names) else index


def plural_of(name: str) -> str:
    """`nodes`, `processes`, `replies`"""
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in ("", *"aeiou"):
        return f"{name[:-1]}ies"
    return f"{name}s"


def require_name(what: str, name: object) -> None:
    """Reject a name with other characters than letters, digits and _, or a word of Python's."""
    if isinstance(name, str) and keyword.iskeyword(name):
        raise BadProtocol(f"{what} is called {name!r}, a word of Python's; call it otherwise")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise BadProtocol(f"{what} is called {name!r}; use letters, digits and _ alone")


def require_index(what: str, index: object) -> None:
    """Refuse what is neither a sort nor a number of elements."""
    if isinstance(index, Opaque):
        raise BadProtocol(
            f"{what} has an element for each of {index.plural}, which are Opaque; make them Names, "
            "or keep one in a Name"
        )
    if isinstance(index, Names) or (type(index) is int and index >= 1):
        return
    raise BadProtocol(f"{what} is indexed by {index!r}; use a sort of Names, or a number from 1")
