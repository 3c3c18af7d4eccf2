"""Sorts of names, and what declarations may be called."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field

from model.core.renaming import Sort
from model.own.typed import Counted

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}", re.ASCII)


class BadProtocol(ValueError):
    """A declaration means nothing; the message names it and says what to write instead."""


@dataclass(frozen=True, slots=True)
class Names(Counted):
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


Index = Names | int
"""By what a field has elements: names, or a number n for 0..n-1."""


def extent(index: Index) -> int:
    """How many elements that is."""
    return index.count if isinstance(index, Names) else index


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
    if isinstance(index, Names) or (type(index) is int and index >= 1):
        return
    raise BadProtocol(f"{what} is indexed by {index!r}; use a sort of Names, or a number from 1")
