"""Declarations of a user model: sorts, fields, actions, claims.

Everything is checked as it is declared. `BadProtocol` says what is wrong and what to write instead;
the loader adds the file and the line of the declaration.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.model.own.fields import (
    AnyField,
    BadProtocol,
    Container,
    DeclaredField,
    Domain,
    Epoch,
    Epochs,
    Name,
    Names,
    Struct,
    Value,
    plain_field,
    require_name,
)
from waterline.model.own.state_class import Fields, declarations_of


class Action:
    """An action whose arguments do not all have the name of a sort: `Action(send, src=node)`.

    A keyword says what an argument ranges over: a sort of Names, a number n for 0..n-1, a range, or
    words, as kind=("request", "reply").
    """

    __slots__ = ("function", "over")

    def __init__(self, function: Callable[..., Any], **over: Domain) -> None:
        for name, domain in over.items():
            plain_field(name, domain, what=f"argument {name} of {_name_of(function)}")
        self.function = function
        self.over: Mapping[str, Domain] = over


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A protocol within bounds, as a function of a user's file returns it.

    `state` is a class of fields, which make up a state; or `fields` is a list of them, each with
    its name. `initial` makes the first states, as an action does; without it every field has its
    first value. `actions` are functions (state, arguments), or `Action`s of them. Claims are
    functions too, with a docstring as their sentence: `always` of a state, in every reachable one;
    `every_step` of a state and the next one; `sometimes` of a state, or of a step, that must be
    reached for the rest to mean anything. `lemmas` are functions of a state, which
    `waterline prove` takes together with `always`.

    The rest is about behaviours. `fair` actions are eventually taken if they stay enabled,
    `strongly_fair` ones also if they are enabled again and again. `recoverable`: these actions
    alone always offer a way to such a state. `eventually`: each behaviour comes to one;
    `always_eventually`: again and again; `leads_to`, pairs: each state of the first kind is
    followed by one of the second, or is one. These take a state, and may take names: then the claim
    is about each of them.
    """

    state: type[Fields] | None = None
    fields: Sequence[AnyField] = ()
    actions: Sequence[Callable[..., Any] | Action]
    initial: Callable[..., Any] | Action | None = None
    always: Sequence[Callable[..., Any]] = ()
    every_step: Sequence[Callable[..., Any]] = ()
    sometimes: Sequence[Callable[..., Any]] = ()
    lemmas: Sequence[Callable[..., Any]] = ()
    fair: Sequence[Callable[..., Any] | Action] = ()
    strongly_fair: Sequence[Callable[..., Any] | Action] = ()
    recoverable: Sequence[Callable[..., Any]] = ()
    eventually: Sequence[Callable[..., Any]] = ()
    always_eventually: Sequence[Callable[..., Any]] = ()
    leads_to: Sequence[tuple[Callable[..., Any], Callable[..., Any]]] = ()

    def __post_init__(self) -> None:
        if self.state is not None:
            object.__setattr__(self, "fields", self._fields_of_class(self.state))
        for kind in self.__dataclass_fields__:
            if kind != "state":
                _require_list(kind, getattr(self, kind))
        self._require_fields()
        if not self.actions:
            raise BadProtocol("there are no actions; nothing could ever happen")
        _require_distinct("action", [_name_of(_function(action)) for action in self.actions])
        claims = [*self.always, *self.every_step, *self.sometimes, *self.lemmas]
        _require_distinct("claim", [_name_of(claim) for claim in claims])
        self._require_fair()
        for kind in ("recoverable", "eventually", "always_eventually"):
            _require_distinct(f"{kind} claim", [_name_of(claim) for claim in getattr(self, kind)])
        for pair in self.leads_to:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise BadProtocol(
                    f"leads_to has {_name_of(pair)}; give pairs of functions, as (waits, is_served)"
                )
        pairs = [f"{_name_of(p)}_leads_to_{_name_of(q)}" for p, q in self.leads_to]
        _require_distinct("claim", pairs)

    def _require_fields(self) -> None:
        for declared in self.fields:
            if isinstance(declared, type):
                name = declared.__name__
                raise BadProtocol(f"{name} is a kind of field; write {name}('name', ...)")
            if not isinstance(declared, DeclaredField):
                raise BadProtocol(f"{declared!r} is no field; use Flag, Number, Choice or Name")
            if not declared.name:
                kind = type(declared).__name__
                raise BadProtocol(
                    f"a {kind} has no name; write {kind}('name', ...) in a list, or give the field "
                    "to an attribute of a class(Fields)"
                )
        for declared in self.fields:
            require_name("a field", declared.name)
        _require_distinct("field", [declared.name for declared in self.fields])
        if not self.fields:
            raise BadProtocol(
                "there are no fields; a state is made of at least one: write state=state"
            )

    def _fields_of_class(self, state: object) -> Sequence[AnyField]:
        if not isinstance(state, type) or not issubclass(state, Fields) or state is Fields:
            raise BadProtocol(f"state is {state!r}; give a class of fields, class State(Fields)")
        if self.fields:
            raise BadProtocol(f"there are fields beside the class {state.__name__}; leave them out")
        return tuple(declarations_of(state).fields.values())

    def _require_fair(self) -> None:
        named = [_name_of(_function(action)) for action in self.actions]
        for kind in ("fair", "strongly_fair"):
            for action in getattr(self, kind):
                if _name_of(_function(action)) not in named:
                    raise BadProtocol(
                        f"{kind} has {_name_of(_function(action))}, which is none of the actions; "
                        f"those are {', '.join(named)}"
                    )
        for name in named:
            if name in self.fair_names & self.strongly_fair_names:
                raise BadProtocol(
                    f"{name} is in fair and in strongly_fair; leave it in strongly_fair alone, "
                    "which demands all that fair does"
                )

    @property
    def fair_names(self) -> frozenset[str]:
        """Names of the fair actions."""
        return frozenset(_name_of(_function(action)) for action in self.fair)

    @property
    def strongly_fair_names(self) -> frozenset[str]:
        """Names of the strongly fair actions."""
        return frozenset(_name_of(_function(action)) for action in self.strongly_fair)

    @property
    def structs(self) -> tuple[Struct[Any], ...]:
        """The structs that fields and arguments are of. Raises `BadProtocol` where two of one named
        tuple differ.
        """
        found: dict[type, Struct[Any]] = {}
        for domain in self._domains():
            if isinstance(domain, Struct) and found.setdefault(domain.kind, domain) != domain:
                raise BadProtocol(
                    f"there are two structs of {domain.name} that differ; keep one, as "
                    f"{domain.name.lower()} = Struct({domain.name}, ...), or write two classes"
                )
        return tuple(found.values())

    def takes(self, action: Callable[..., Any] | Action) -> dict[str, Domain]:
        """Each argument of an action, or of `initial`, with what it ranges over.

        Raises `BadProtocol`.
        """
        function = _function(action)
        over = dict(action.over) if isinstance(action, Action) else {}
        sorts = {sort.name: sort for sort in self.all_sorts}
        name, known = _name_of(function), ", ".join(sorts) or "none"
        arguments = list(inspect.signature(function).parameters)
        if not arguments:
            raise BadProtocol(f"{name} takes no state; its first argument is the state")
        found: dict[str, Domain] = {}
        for argument in arguments[1:]:
            domain = over.pop(argument, sorts.get(argument))
            if domain is None:
                raise BadProtocol(
                    f"{name} has an argument {argument!r}, which is the name of no sort ({known}); "
                    f"say what it ranges over: Action({name}, {argument}=...)"
                )
            found[argument] = domain
        if over:
            raise BadProtocol(
                f"{name} has no argument {next(iter(over))!r}; leave it out of Action"
            )
        return found

    def _domains(self) -> Iterator[Any]:
        """Yield the domains of fields and of arguments."""
        for declared in self.fields:
            if isinstance(declared, Name | Epoch | Container | Value):
                yield declared.of
        for action in (*self.actions, self.initial):
            if isinstance(action, Action):
                yield from action.over.values()

    @property
    def sorts(self) -> tuple[Names, ...]:
        """The sorts of names that fields and arguments are of, as they first appear.

        Raises `BadProtocol` where two of one name differ.
        """
        return tuple(each for each in self.all_sorts if isinstance(each, Names))

    @property
    def epochs(self) -> tuple[Epochs, ...]:
        """The sorts of epochs, in the same way."""
        return tuple(each for each in self.all_sorts if isinstance(each, Epochs))

    @property
    def all_sorts(self) -> tuple[Names | Epochs, ...]:
        """The sorts of names and of epochs. Raises `BadProtocol` as `sorts` does."""
        indices: list[Any] = []
        if self.state is not None:
            made = declarations_of(self.state)
            indices += [*made.sorts.values(), *made.epochs.values()]
        for declared in self.fields:
            indices += declared.indices
        for domain in self._domains():
            parts = [part for _, part in domain.parts] if isinstance(domain, Struct) else []
            indices += [domain, *(part.of for part in parts if isinstance(part, Name | Epoch))]
        found: dict[str, Names | Epochs] = {}
        for index in indices:
            if isinstance(index, Names | Epochs) and found.setdefault(index.name, index) != index:
                raise BadProtocol(f"there are two sorts {index.name!r} that differ; use one")
        return tuple(found.values())


def _function(action: Callable[..., Any] | Action | None) -> Any:
    return action.function if isinstance(action, Action) else action


def _name_of(function: Any) -> str:
    if isinstance(function, str):
        raise BadProtocol(
            f"{function!r} is text, and no function; write {function}, without quotes"
        )
    if not callable(function):
        raise BadProtocol(
            f"{reprlib.repr(function)} is no function; write one with def, and give its name to "
            "nothing else"
        )
    return getattr(function, "__name__", repr(function))


def _require_list(kind: str, given: object) -> None:
    """Refuse one function in the place of a list, and a list in the place of one function."""
    if kind == "initial":
        if isinstance(given, list | tuple):
            raise BadProtocol("initial is a list; name one function, as initial=start")
        if isinstance(given, str):
            _name_of(given)
        return
    if not isinstance(given, list | tuple):
        shown = getattr(given, "__name__", repr(given))
        raise BadProtocol(f"{kind} is no list; write {kind}=[{shown}]")


def _require_distinct(what: str, names: Sequence[str]) -> None:
    for name in names:
        if name == "<lambda>":
            raise BadProtocol(
                f"a {what} is a lambda; write it with def: its name and docstring are shown"
            )
        require_name(f"{'an' if what == 'action' else 'a'} {what}", name)
        if names.count(name) > 1:
            raise BadProtocol(f"there are two {what}s called {name!r}; give each a name of its own")
