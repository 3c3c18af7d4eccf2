"""Content of the values and functions that rules are made of, as text: equal text, equal meaning.

A rule may read whole numbers, members of enumerations of them, tuples and frozensets of these,
functions, and modules and classes on the way to these. Of anything else we cannot say in text all
that it means, so it has no content here, and the compiler refuses it.
"""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.source import source_of

BUILTINS = {"min": min, "max": max, "abs": abs, "int": int, "bool": bool, "range": range}
"""The built-in functions that rules may call, by name."""
_COMPARING = {f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "int")}
_COMPUTING = {
    f"__{side}{name}__"
    for side in ("", "r")
    for name in ("add", "sub", "mul", "floordiv", "mod", "lshift", "rshift", "and", "or", "xor")
}
_OPERATORS = _COMPARING | _COMPUTING | {"__index__", "__abs__", "__neg__", "__pos__", "__invert__"}


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function that the compiler writes out itself, given `Expressions` and the arguments."""

    write: Callable[..., Any]


class NoContent(Exception):
    """A value whose meaning no text holds: what it is, and what to write instead."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"{what}; {instead}")
        self.what = what
        self.instead = instead


def content_of(thing: Any, *, exact: bool) -> str:
    """The content of a value that a rule reads. Raises `NoContent`.

    With `exact` that of a function has its lines and its docstring too. Without, it has only what
    the function does, and takes longer to find.
    """
    kind = type(thing)
    if kind in (int, bool):
        return f"{kind.__name__} {thing}"
    if isinstance(thing, enum.Enum):
        return _member(thing)
    if isinstance(thing, types.FunctionType):
        return f"function {function_content(thing, exact=exact)}"
    if isinstance(thing, tuple):
        _require_plain_items(kind)
    if isinstance(thing, tuple) or kind is frozenset:
        items = [_item(thing, item, exact=exact) for item in thing]
        return f"{kind.__qualname__} {_join(items if isinstance(thing, tuple) else sorted(items))}"
    if kind is types.ModuleType or isinstance(thing, type | types.BuiltinFunctionType | Intrinsic):
        return _name_of(thing)
    if isinstance(thing, int):
        raise NoContent(
            f"{kind.__name__}, a kind of int of its own", "use a plain number, or an IntEnum"
        )
    raise NoContent(
        f"{kind.__name__}, no number", "use whole numbers, functions of the file and modules"
    )


def function_content(function: types.FunctionType, *, exact: bool) -> str:
    """A name for what a function does by itself, without what it reads by name.

    Raises `NoContent` for one with variables of another function, `NotCompilable` for one whose
    text cannot be read.
    """
    defaults = len(function.__defaults__ or ())
    content = _code_content if exact else _tree_content
    return f"{function.__code__.co_name} {content(function, function.__code__, defaults)}"


@functools.lru_cache(maxsize=4096)
def _code_content(function: types.FunctionType, code: types.CodeType, defaults: int) -> str:
    """Its code, in the words of this version of Python, with its lines and its docstring."""
    if function.__closure__:
        raise NoContent("defined inside another function", "define it alone")
    facts = (
        function.__module__,
        defaults,
        sorted(function.__kwdefaults__ or ()),
        (code.co_flags, code.co_firstlineno, code.co_linetable),
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        code.co_code,
        code.co_exceptiontable,
        tuple(map(_constant, code.co_consts)),
    )
    return hashlib.sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()[:32]


@functools.lru_cache(maxsize=4096)
def _tree_content(function: types.FunctionType, code: types.CodeType, defaults: int) -> str:
    """Its syntax tree, which the compiler reads, without docstring, annotations and lines."""
    tree = source_of(function).tree
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    facts = (
        [argument.arg for argument in tree.args.args],
        defaults,
        [ast.dump(statement) for statement in body],
    )
    return hashlib.sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()[:32]


def _constant(constant: Any) -> str:
    if isinstance(constant, types.CodeType):
        raise NoContent("a function with another one inside", "define it alone")
    if isinstance(constant, tuple):
        return f"tuple {_join(map(_constant, constant))}"
    if isinstance(constant, frozenset):
        return f"frozenset {_join(sorted(map(_constant, constant)))}"
    return f"{type(constant).__name__} {constant!r}"


def _member(member: enum.Enum) -> str:
    """A member of an enumeration: which one, and its number or text."""
    kind = type(member)
    if _has_operators(kind):
        raise NoContent(
            f"of {kind.__name__}, an enumeration with operators of its own",
            "let it have members alone",
        )
    value = member.value
    if isinstance(member, int):
        value = int.__int__(member)
    elif type(value) not in (int, bool, str):
        raise NoContent(f"{member}, no number", "let its value be a whole number")
    return f"member {kind.__qualname__} {member.name} {value!r}"


def _require_plain_items(kind: type) -> None:
    """Raise `NoContent` if a tuple class defines other access to its items."""
    ways = ("__getitem__", "__iter__", "__contains__", "__len__", "__eq__", "__getattribute__")
    if any(getattr(kind, way) is not getattr(tuple, way) for way in ways):
        raise NoContent(f"{kind.__name__}, a kind of tuple of its own", "use a plain tuple")


def _name_of(thing: Any) -> str:
    """A module or a class, by itself only a step on the way, or what the compiler knows by name."""
    if isinstance(thing, Intrinsic):
        return f"intrinsic {thing.write.__module__}.{thing.write.__qualname__}"
    if isinstance(thing, types.ModuleType):
        return f"module {thing.__name__}"
    if any(thing is builtin for builtin in BUILTINS.values()):
        return f"builtin {thing.__name__}"
    if isinstance(thing, type):
        return f"class {thing.__qualname__}"
    raise NoContent(
        f"the built-in function {thing.__name__}", "use min, max, abs, int, bool and range"
    )


@functools.cache
def _has_operators(kind: type[enum.Enum]) -> bool:
    """True if an enumeration compares or computes in another way than those of Python do."""
    pythons = [each for each in kind.__mro__ if each.__module__ in {"enum", "builtins"}]
    return any(
        not any(vars(each)[name] is vars(base).get(name) for base in pythons)
        for each in kind.__mro__
        if each not in pythons
        for name in _OPERATORS & set(vars(each))
    )


def _item(among: Any, item: Any, *, exact: bool) -> str:
    if isinstance(item, type | types.ModuleType):
        raise NoContent(
            f"a {type(among).__name__} that holds {item.__name__}",
            "let it hold numbers, and name what else there is",
        )
    return content_of(item, exact=exact)


def _join(parts: Iterable[str]) -> str:
    # Each with its length, so that no two lists read alike.
    return " ".join(f"{len(part)}:{part}" for part in parts)
