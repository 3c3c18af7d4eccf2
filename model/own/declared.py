"""Declarations of a user model: sorts, fields, actions, claims.

Everything is checked as it is declared. `BadProtocol` says what is wrong and what to write instead;
the loader adds the file and the line of the declaration.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from model.core.renaming import Sort

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
        _require_name("a sort of names", self.name)
        if not self.plural:
            object.__setattr__(self, "plural", _plural(self.name))
        _require_name("the plural of a sort", self.plural)
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


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    by: Index | tuple[Index, ...] = field(default=(), kw_only=True)
    doc: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _require_name("a field", self.name)
        if len(self.indices) > 2:
            raise BadProtocol(
                f"field {self.name} has {len(self.indices)} indices; at most 2 can be"
            )
        for index in self.indices:
            _require_index(f"field {self.name}", index)

    @property
    def indices(self) -> tuple[Index, ...]:
        """By what it has elements; nothing for a single value."""
        return self.by if isinstance(self.by, tuple) else (self.by,)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that an element is kept as."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Flag(_Field):
    """A field that is True or False; False at first."""

    @property
    def range(self) -> tuple[int, int]:
        """False is 0, True is 1."""
        return 0, 1


@dataclass(frozen=True, slots=True)
class Number(_Field):
    """A field of whole numbers from `lo` to `hi`, both included; `lo` at first."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        _Field.__post_init__(self)
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
class Choice(_Field):
    """A field that is one of several words; the first of them at first.

    `Choice("state", "working", "done", by=rm)` is compared and assigned as text:
    `s.state[rm] == "done"`.
    """

    values: tuple[str, ...]

    def __init__(
        self, name: str, *values: str, by: Index | tuple[Index, ...] = (), doc: str = ""
    ) -> None:
        for attribute, value in (("name", name), ("by", by), ("doc", doc), ("values", values)):
            object.__setattr__(self, attribute, value)
        _Field.__post_init__(self)
        if not values or not all(isinstance(value, str) and value for value in values):
            raise BadProtocol(f"field {name} has no choices; name them, as Choice(name, 'a', 'b')")
        if len(set(values)) < len(values):
            raise BadProtocol(f"field {name} has a choice twice; give each once")

    @property
    def range(self) -> tuple[int, int]:
        """A choice is kept as its place."""
        return 0, len(self.values) - 1


@dataclass(frozen=True, slots=True)
class Name(_Field):
    """A field that holds a name of a sort, the first one at first; or None at first, if `or_none`.

    `Name("leader", node, or_none=True)` is compared with None, with arguments of actions and with
    what loops count: `s.leader == node`.
    """

    of: Names
    or_none: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _Field.__post_init__(self)
        if not isinstance(self.of, Names):
            raise BadProtocol(f"field {self.name} holds names of {self.of!r}; give a sort of Names")

    @property
    def range(self) -> tuple[int, int]:
        """None is -1."""
        return (NONE if self.or_none else 0), self.of.count - 1


AnyField = Flag | Number | Choice | Name


class Action:
    """An action whose arguments do not all have the name of a sort: `Action(send, src=node)`.

    A keyword says what an argument ranges over: a sort of Names, or a number n for 0..n-1.
    """

    __slots__ = ("function", "over")

    def __init__(self, function: Callable[..., Any], **over: Index) -> None:
        for name, index in over.items():
            _require_index(f"argument {name} of {_called(function)}", index)
        self.function = function
        self.over: Mapping[str, Index] = over


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A protocol within bounds, as a function of a user's file returns it.

    `fields` are what a state is made of. `initial` makes the first states, as an action does; left
    out, every field has its first value. `actions` are functions (state, arguments), or `Action`s
    of them. Claims are functions too, and their docstrings say them: `always` of a state, in every
    reachable one; `every_step` of a state and the next one; `sometimes` of a state, or of a step,
    that must be reached for the rest to mean anything.

    Of what follows: `fair` are those of the actions that are taken in the end where they can always
    be. `recoverable`: by these alone there is always a way to such a state. `eventually`: each
    behaviour comes to one; `always_eventually`: again and again; `leads_to`, pairs: each
    state of the first kind is followed by one of the second, or is one. These take a state, and may
    take names: then the claim is about each of them.
    """

    fields: Sequence[AnyField]
    actions: Sequence[Callable[..., Any] | Action]
    initial: Callable[..., Any] | Action | None = None
    always: Sequence[Callable[..., Any]] = ()
    every_step: Sequence[Callable[..., Any]] = ()
    sometimes: Sequence[Callable[..., Any]] = ()
    fair: Sequence[Callable[..., Any] | Action] = ()
    recoverable: Sequence[Callable[..., Any]] = ()
    eventually: Sequence[Callable[..., Any]] = ()
    always_eventually: Sequence[Callable[..., Any]] = ()
    leads_to: Sequence[tuple[Callable[..., Any], Callable[..., Any]]] = ()

    def __post_init__(self) -> None:
        for kind in self.__dataclass_fields__:
            _require_list(kind, getattr(self, kind))
        for declared in self.fields:
            if isinstance(declared, type):
                name = declared.__name__
                raise BadProtocol(f"{name} is a kind of field; write {name}('name', ...)")
            if not isinstance(declared, _Field):
                raise BadProtocol(f"{declared!r} is no field; use Flag, Number, Choice or Name")
        _require_distinct("field", [declared.name for declared in self.fields])
        if not self.fields:
            raise BadProtocol("there are no fields; a state is made of at least one")
        if not self.actions:
            raise BadProtocol("there are no actions; nothing could ever happen")
        _require_distinct("action", [_called(_function(action)) for action in self.actions])
        claims = [*self.always, *self.every_step, *self.sometimes]
        _require_distinct("claim", [_called(claim) for claim in claims])
        self._require_fair()
        for kind in ("recoverable", "eventually", "always_eventually"):
            _require_distinct(f"{kind} claim", [_called(claim) for claim in getattr(self, kind)])
        for pair in self.leads_to:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise BadProtocol(
                    f"leads_to has {_called(pair)}; give pairs of functions, as (waits, is_served)"
                )
        pairs = [f"{_called(p)}_leads_to_{_called(q)}" for p, q in self.leads_to]
        _require_distinct("claim", pairs)

    def _require_fair(self) -> None:
        named = [_called(_function(action)) for action in self.actions]
        for action in self.fair:
            if _called(_function(action)) not in named:
                raise BadProtocol(
                    f"fair has {_called(_function(action))}, which is none of the actions; "
                    f"those are {', '.join(named)}"
                )

    @property
    def fair_names(self) -> frozenset[str]:
        """What the fair actions are called."""
        return frozenset(_called(_function(action)) for action in self.fair)

    @property
    def sorts(self) -> tuple[Names, ...]:
        """The sorts of names that fields and arguments are of, as they first appear.

        Raises `BadProtocol` where two of one name differ.
        """
        indices: list[Any] = []
        for declared in self.fields:
            indices += declared.indices
            if isinstance(declared, Name):
                indices.append(declared.of)
        for action in (*self.actions, self.initial):
            if isinstance(action, Action):
                indices += action.over.values()
        found: dict[str, Names] = {}
        for index in indices:
            if isinstance(index, Names) and found.setdefault(index.name, index) != index:
                raise BadProtocol(f"there are two sorts {index.name!r} that differ; use one")
        return tuple(found.values())


def when(condition: object) -> NoReturn:
    """In an action: it is enabled only where this is so. Stands before all that changes the state.

    It is read, never called.
    """
    raise BadProtocol("`when` stands in an action, at its top level")


def within(condition: object) -> NoReturn:
    """In an action: a step where this is not so goes beyond a bound that the condition names.

    As `within(s.term[node] < s.terms)`. Such steps are counted as cut, and not taken.
    """
    raise BadProtocol("`within` stands in an action, at its top level")


def _function(action: Callable[..., Any] | Action | None) -> Any:
    return action.function if isinstance(action, Action) else action


def _plural(name: str) -> str:
    """`nodes`, `processes`, `replies`"""
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in ("", *"aeiou"):
        return f"{name[:-1]}ies"
    return f"{name}s"


def _called(function: Any) -> str:
    if isinstance(function, str):
        raise BadProtocol(
            f"{function!r} is text, and no function; write {function}, without quotes"
        )
    return getattr(function, "__name__", repr(function))


def _require_name(what: str, name: object) -> None:
    if isinstance(name, str) and keyword.iskeyword(name):
        raise BadProtocol(f"{what} is called {name!r}, a word of Python's; call it otherwise")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise BadProtocol(f"{what} is called {name!r}; use letters, digits and _ alone")


def _require_list(kind: str, given: object) -> None:
    """Refuse one function in the place of a list, and a list in the place of one function."""
    if kind == "initial":
        if isinstance(given, list | tuple):
            raise BadProtocol("initial is a list; name one function, as initial=start")
        if isinstance(given, str):
            _called(given)
        return
    if not isinstance(given, list | tuple):
        shown = getattr(given, "__name__", repr(given))
        raise BadProtocol(f"{kind} is no list; write {kind}=[{shown}]")


def _require_index(what: str, index: object) -> None:
    if isinstance(index, Names) or (type(index) is int and index >= 1):
        return
    raise BadProtocol(f"{what} is indexed by {index!r}; use a sort of Names, or a number from 1")


def _require_distinct(what: str, names: Sequence[str]) -> None:
    for name in names:
        if name == "<lambda>":
            raise BadProtocol(
                f"a {what} is a lambda; write it with def: its name and docstring are shown"
            )
        _require_name(f"{'an' if what == 'action' else 'a'} {what}", name)
        if names.count(name) > 1:
            raise BadProtocol(f"there are two {what}s called {name!r}; give each a name of its own")
