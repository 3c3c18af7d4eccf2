"""A class whose attributes are the bounds, the sorts and the fields of a state.

    class State(Fields):
        clients = Names("client", 2)
        leases: int = 3
        holder = Name(clients, or_none=True)
        token = Number(0, leases, by=clients)

The body is plain Python, so a field's domain can be any expression of the bounds. With other bounds
the body runs again: a bound then has the requested value, whatever the body says. Rules get states
with these attributes, and a type checker infers the content of each from the class.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from waterline.model.core.state import Draft
from waterline.model.own.fields import AnyField, DeclaredField, Struct
from waterline.model.own.names import BadProtocol, Epochs, Names
from waterline.model.own.typed import OfState

Bound = int | bool
Bounds = Mapping[str, Bound]


class Declarations(dict[str, Any]):
    """The body of such a class while it runs: looks at each attribute when it gets its value."""

    def __init__(self, asked: Bounds) -> None:
        super().__init__()
        self._asked = asked
        self.body: types.FunctionType | None = None
        self.bounds: dict[str, Bound] = {}
        self.sorts: dict[str, Names] = {}
        self.epochs: dict[str, Epochs] = {}
        self.fields: dict[str, AnyField] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "__module__":
            frame = inspect.currentframe()
            frame = frame.f_back if frame is not None else None
            # That is the body: each says first in which module it stands.
            if frame is not None and not frame.f_code.co_freevars:
                self.body = types.FunctionType(frame.f_code, frame.f_globals)
        if not name.startswith("_"):
            value = self._declare(name, value)
        super().__setitem__(name, value)

    def _declare(self, name: str, value: Any) -> Any:
        if name in self:
            raise BadProtocol(f"there are two of the name {name}; give each a name of its own")
        if hasattr(Draft, name):
            raise BadProtocol(f"{name} is what a state has already; call it otherwise, as {name}_")
        match value:
            case int():
                self.bounds[name] = found = self._asked.get(name, value)
                return found
            case Names():
                self.sorts[name] = sort = self._sort(name, value)
                return sort
            case Epochs():
                self.bounds[name] = self._asked.get(name, value.highest)
                self.epochs[name] = made = dataclasses.replace(
                    value, highest=self.bounds[name], plural=name
                )
                return made
            case DeclaredField():
                field: Any = value.with_name(name)
                self.fields[name] = field
                return field
            case Struct():
                return value
            case type() if issubclass(value, DeclaredField | Names | Epochs):
                raise BadProtocol(
                    f"{name} is a kind of field; write {name} = {value.__name__}(...)"
                )
            case types.FunctionType():
                raise BadProtocol(
                    f"{name} is a function within the class; write rules at the top level of the "
                    "file"
                )
        raise BadProtocol(
            f"{name} is no field, no sort of Names and no bound; write {name} = Number(0, 3), or "
            f"_{name} for a value that only the class uses"
        )

    def _sort(self, name: str, given: Names) -> Names:
        if name == given.name:
            raise BadProtocol(
                f"{name} is what one of them is called; call the sort by its plural, as "
                f"{Names(name, 1).plural} = Names({name!r}, {given.count})"
            )
        if not given.fixed:
            self.bounds[name] = self._asked.get(name, given.count)
        count = self.bounds.get(name, given.count)
        return dataclasses.replace(given, count=count, plural=name)


class StateType(type):
    """Metaclass of such classes."""

    _made: Declarations

    @classmethod
    def __prepare__(  # type: ignore[override]  # one keyword is ours
        cls, name: str, bases: tuple[type, ...], /, bounds: Bounds | None = None
    ) -> Any:
        return {} if OfState in bases else Declarations(bounds or {})

    def __new__(  # noqa: D102 - as any class is made
        cls, name: str, bases: tuple[type, ...], body: Any, /, bounds: Bounds | None = None
    ) -> StateType:
        made = super().__new__(cls, name, bases, dict(body))
        if OfState in bases:
            return made
        if bases != (Fields,):
            raise BadProtocol(
                f"{name} is made of another class of fields; write all of them in one, as "
                f"class {name}(Fields)"
            )
        for left in body.get("__annotations__", {}):
            if left not in body:
                raise BadProtocol(f"{left} has no value; write {left}: int = 3, or {left} = Flag()")
        if not body.fields:
            raise BadProtocol(f"{name} has no fields; a state is made of at least one")
        made._made = body
        return made


class Fields(OfState, metaclass=StateType):
    """The fields of a state, the sorts of names that they are by, and the bounds.

    A whole number and a truth is a bound, `leases: int = 3`, and so is how many names a sort has,
    `clients = Names("client", 2)`: `--set leases=5 --set clients=3`. A `Struct` is a domain, for
    fields and arguments. Everything else is a field. A name that begins with _ only serves the
    class itself.
    """


def bounds_of(function: Callable[..., Any]) -> dict[str, Bound]:
    """The bounds of a function that declares a protocol, each with its default.

    They are those of the class that it is given, `def lease(state: type[State]) -> Protocol`, or
    its own arguments. Raises `BadProtocol`.
    """
    if (state := state_of(function)) is not None:
        return dict(state._made.bounds)
    found: dict[str, Bound] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if type(parameter.default) not in (int, bool):
            raise BadProtocol(
                f"bound {name} of {function.__name__} has no number and no truth as its default; "
                f"write {name}: int = 3, or state: type[State] for a class of fields"
            )
        found[name] = parameter.default
    return found


def call_within(function: Callable[..., Any], bounds: Bounds) -> Any:
    """Return the result of a function that declares a protocol, within these bounds. Raises
    `BadProtocol`, and whatever the function raises.
    """
    given = state_of(function)
    if given is None:
        made = function(**bounds)
        state = getattr(made, "state", None)
        if state is not None and state._made.bounds:
            raise _not_taken(function, state)
        return made
    state = _within(given, bounds)
    made = function(state)
    if getattr(made, "state", state) is not state:
        raise _not_taken(function, given)
    return made


def _not_taken(function: Callable[..., Any], state: StateType) -> BadProtocol:
    name = state.__name__
    return BadProtocol(
        f"{function.__name__} has to be given {name} within its bounds; write "
        f"def {function.__name__}(state: type[{name}]) and Protocol(state=state, ...)"
    )


def body_of(state: StateType) -> types.CodeType | None:
    """The code of the class, to compare it with a text."""
    return state._made.body.__code__ if state._made.body is not None else None


def declarations_of(state: StateType) -> Declarations:
    """Return the bounds, sorts and fields of a class, each in their order."""
    return state._made


def state_of(function: Callable[..., Any]) -> StateType | None:
    """The class of fields that a function takes; None if it takes none."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].default is not inspect.Parameter.empty:
        return None
    try:
        hints = typing.get_type_hints(function)
    except NameError:
        return None
    found = typing.get_args(hints.get(parameters[0].name))
    if len(found) == 1 and isinstance(found[0], type) and not isinstance(found[0], StateType):
        code, name = function.__code__, found[0].__name__
        raise BadProtocol(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__name__} takes {name}, which is "
            f"no class of fields; write class {name}(Fields):"
        )
    if len(found) != 1 or not isinstance(found[0], StateType):
        return None
    if len(parameters) > 1:
        raise BadProtocol(
            f"{function.__name__} takes {parameters[1].name} beside {found[0].__name__}; the "
            f"bounds stand in the class: write {parameters[1].name}: int = 3 there"
        )
    return found[0]


def _within(state: StateType, bounds: Bounds) -> StateType:
    made = state._made
    # A bound may be any number, which cannot be compared.
    if all(isinstance(each, int) for each in bounds.values()) and dict(bounds) == made.bounds:
        return state
    if made.body is None:
        raise BadProtocol(
            f"{state.__name__} reads variables of the function that it stands in, so it has no "
            "other bounds; write it at the top level of the file"
        )
    again = builtins.__build_class__(made.body, state.__name__, Fields, bounds=bounds)
    assert isinstance(again, StateType)
    return again
