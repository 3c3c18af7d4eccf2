"""Name resolution in rules, and the record of all that it read.

A path leads from a function to the value of one of its expressions: a name of its module or a
built-in function, then members of modules and classes, items of tuples; or a default of one of its
parameters. Following a path runs no foreign code: descriptors, properties, metaclasses and a
module's `__getattr__` are refused. So the same path can be followed again in another process, to
compare its value with the one in the record (`checker.compiler.text_key`).
"""

from __future__ import annotations

import builtins
import enum
import types
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.compiler.content import BUILTINS, NoContent, content_of
from waterline.checker.compiler.source import Source

NAME, MEMBER, ITEM, DEFAULT = "name", "member", "item", "default"
Path = tuple[tuple[str, str | int], ...]
"""Steps, the first of them a NAME or a DEFAULT."""
_FIELD_OF_A_NAMED_TUPLE = type(vars(namedtuple("_Sample", "field"))["field"])


class Undefined(Exception):
    """A name that stands for nothing."""


@dataclass(frozen=True, slots=True)
class Known:
    """A Python object, with the path and the function that led to it."""

    thing: Any
    function: types.FunctionType | None = field(default=None, compare=False)
    path: Path = field(default=(), compare=False)


@dataclass(slots=True)
class Lookups:
    """Look-ups made while functions were compiled, in order: each path with its value."""

    found: dict[tuple[types.FunctionType, Path], Any] = field(default_factory=dict)

    def name(self, source: Source, name: str) -> Known:
        """Return the value of a name of a function's module. Raises `Undefined`, `NoContent`."""
        if source.function is None:  # the checker wrote it: see `Source.generated`
            if name not in source.names and name not in BUILTINS:
                raise Undefined
            return Known(source.names[name] if name in source.names else BUILTINS[name])
        return self._follow(source.function, ((NAME, name),))

    def member(self, owner: Known, name: str) -> Known:
        """`owner.name`. Raises `Undefined`, `NoContent`."""
        return self._further(owner, (MEMBER, name))

    def item(self, owner: Known, index: int) -> Known:
        """`owner[index]` of a tuple. Raises `Undefined`, `NoContent`."""
        return self._further(owner, (ITEM, index))

    def default(self, source: Source, index: int) -> Known:
        """A default of a parameter, by its place among the defaults. Raises `NoContent`."""
        if source.function is None:
            return Known(source.defaults[index])
        return self._follow(source.function, ((DEFAULT, index),))

    def _further(self, owner: Known, step: tuple[str, str | int]) -> Known:
        function: Any = owner.function  # mypy takes a FunctionType in a class for a method
        if function is None:
            return Known(_step(owner.thing, step))
        return self._follow(function, (*owner.path, step))

    def _follow(self, function: types.FunctionType, path: Path) -> Known:
        thing = follow(function, path)
        content_of(thing, exact=True)  # that it has one
        self.found[function, path] = thing
        return Known(thing, function, path)


def follow(function: types.FunctionType, path: Path) -> Any:
    """Return the value at a path now. Raises `Undefined`, `NoContent`."""
    thing: Any = function
    for step in path:
        thing = _step(thing, step)
    return thing


def _step(thing: Any, step: tuple[str, str | int]) -> Any:
    match step:
        case ("name", str(name)):
            return _global(thing, name)
        case ("member", str(name)):
            return _member(thing, name)
        case ("item", int(index)) if isinstance(thing, tuple):
            if -len(thing) <= index < len(thing):
                return tuple.__getitem__(thing, index)
        case ("default", int(index)):
            defaults = thing.__defaults__ or ()
            if 0 <= index < len(defaults):
                return defaults[index]
    raise Undefined


def _global(function: types.FunctionType, name: str) -> Any:
    if name in function.__globals__:
        return function.__globals__[name]
    if name in BUILTINS and vars(builtins).get(name) is BUILTINS[name]:
        return BUILTINS[name]
    raise Undefined


def _member(owner: Any, name: str) -> Any:
    """A member that is simply there, of a module, a class or a named tuple."""
    if type(owner) is types.ModuleType:
        if name in vars(owner):
            return vars(owner)[name]
        raise Undefined
    if isinstance(owner, enum.EnumMeta) and name in owner.__members__:
        return owner.__members__[name]
    if isinstance(owner, type):
        return _of_class(owner, name)
    fields = getattr(type(owner), "_fields", ()) if isinstance(owner, tuple) else ()
    # The field itself, not a property that a subclass put in its place.
    if name in fields and type(_of_mro(type(owner), name)) is _FIELD_OF_A_NAMED_TUPLE:
        return tuple.__getitem__(owner, fields.index(name))
    if isinstance(owner, types.FunctionType | tuple | types.ModuleType) and hasattr(owner, name):
        raise NoContent(
            f"an attribute of a {type(owner).__name__}",
            "write a constant of the module for it",
        )
    raise Undefined


def _of_class(owner: type, name: str) -> Any:
    if type(owner) not in (type, enum.EnumMeta):
        raise NoContent(
            f"of {owner.__name__}, a class with a metaclass of its own",
            "write a plain class of constants",
        )
    found = _of_mro(owner, name)
    if not isinstance(found, types.FunctionType) and hasattr(type(found), "__get__"):
        raise NoContent("computed when it is read", "write a constant for it")
    return found


def _of_mro(owner: type, name: str) -> Any:
    for each in owner.__mro__:
        if name in vars(each):
            return vars(each)[name]
    raise Undefined
