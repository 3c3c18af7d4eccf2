"""A key for what a program's text is made of, got without writing the text.

Writing the text of a problem's loops takes a tenth of a second, and it is needed to know its name
in the cache. The key is made of what decides the text: the bytes of the compiler's own sources, the
plan, and of every function that it reaches the code that Python runs, with the values of all names
in it. Equal keys mean equal texts. The reverse does not hold: another line number is another key,
and costs no more than writing the text once.

There is no key, and the text is written, where something is reached whose value is not known to
stay, or where a source was changed shortly before this process began or since: what runs may then
be older than what the file says.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from checker.compiled.values import Intrinsic
from model.kit.layout import Layout

PACKAGES = Path(__file__).parents[2]
WRITERS = (
    "checker/compiled",
    "checker/reduced",
    "checker/problems/problem.py",
    "checker/rows.py",
    "checker/problems/symmetry.py",
    "invariants",
    "model",
)
"""Whose code writes a text: folders and modules. A test sees that the compiler imports no other.
What is compiled may lie elsewhere: it is described, function by function. How a model is reduced is
kept by such a key as well.
"""
SETTLED_SECONDS = 60.0
"""How long before this process a source must have been left alone: more than importing it takes."""
_BEGAN = time.time()
_PLAIN = (bool, bytes, complex, float, int, str, type(None), type(...))


class _Unknown(Exception):
    """A value that may be another one while nothing of it that is seen here differs."""


def key_of(*made_of: Any) -> str | None:
    """The key of what is made of these; None where there is none."""
    sources = _sources_digest()
    if sources is None:
        return None
    digest = hashlib.sha256(f"{sources} {sys.version} {sys.flags.optimize}\n".encode())
    try:
        for part in made_of:
            _Description(digest.update).add(part)
    except _Unknown:
        return None
    return digest.hexdigest()[:32]


def _sources_digest() -> str | None:
    """A name for the sources of the compiler; None where they may not be what runs."""
    try:
        changed = max(path.stat().st_ctime for path in _sources())
        # A program sent to an executor is read from a zip: there are no such files.
        return _bytes_digest() if changed < _BEGAN - SETTLED_SECONDS else None
    except OSError:
        return None


@functools.cache
def _bytes_digest() -> str:
    digest = hashlib.sha256()
    for path in _sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGES)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@functools.cache
def _sources() -> tuple[Path, ...]:
    return tuple(path for each in WRITERS for path in _files_of(PACKAGES / each))


def _files_of(place: Path) -> Iterable[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else (place,)


class _Description:
    """Tells `update` a value and all that it is made of, each function once."""

    def __init__(self, update: Callable[[bytes], None]) -> None:
        self._update = update
        self._functions: dict[types.FunctionType, int] = {}

    def add(self, value: Any) -> None:
        """A value that a plan or a rule holds. Raises `_Unknown`."""
        kind = type(value)
        if kind in _PLAIN:
            self._say(kind.__name__, repr(value))
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type | types.BuiltinFunctionType):
            self._say("named", value.__module__, value.__qualname__)
        elif isinstance(value, types.ModuleType):
            self._say("module", value.__name__)
        elif isinstance(value, enum.Enum):
            self._say("member", kind.__qualname__, value.name)
        elif isinstance(value, tuple):
            self._say("tuple", kind.__qualname__, len(value))
            self._all(value)
        elif isinstance(value, frozenset | set):
            self._say("set", len(value))
            self._all(_in_order(value))
        elif isinstance(value, dict):
            self._say("dict", len(value))
            self._all(item for pair in value.items() for item in pair)
        elif isinstance(value, Intrinsic):
            # What it writes is decided by the compiler's sources.
            self._say("intrinsic", value.write.__module__, value.write.__qualname__)
        elif isinstance(value, Layout):
            self._say("layout", value.digest)
            self._all((value.fields, value.sizes))
        elif dataclasses.is_dataclass(value):
            self._say("fields of", kind.__module__, kind.__qualname__)
            self._all(getattr(value, field.name) for field in dataclasses.fields(value))
        else:
            raise _Unknown(value)

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)

    def _say(self, *facts: object) -> None:
        # Each with its length: no two lists of facts read alike.
        for fact in facts:
            text = str(fact).encode(errors="surrogatepass")
            self._update(b"%d %s\n" % (len(text), text))

    def _function(self, function: types.FunctionType) -> None:
        if function in self._functions:
            self._say("function", self._functions[function])
            return
        self._functions[function] = len(self._functions)
        if function.__closure__:
            raise _Unknown(function)
        self._say("function", function.__module__, function.__qualname__)
        self._code(function.__code__)
        self._all((function.__defaults__, function.__kwdefaults__))
        names = dict.fromkeys(_names_in(function.__code__))
        for name in names:
            if name in function.__globals__:
                self._say(name)
                self._used(function.__globals__[name], names, set())

    def _code(self, code: types.CodeType) -> None:
        """All that a code object does, and on which line it begins."""
        self._say("code", code.co_name, code.co_firstlineno, code.co_flags)
        self._say(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._say(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._say(code.co_code.hex(), code.co_exceptiontable.hex())
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.add(constant)

    def _used(self, value: Any, names: Iterable[str], seen: set[int]) -> None:
        """What a global name stands for, and those attributes that the function could ask for."""
        self.add(value)
        if not isinstance(value, type | types.ModuleType | tuple) or id(value) in seen:
            return
        seen.add(id(value))
        for name in names:
            if hasattr(value, name):
                self._say(name)
                self._used(getattr(value, name), names, seen)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _in_order(values: frozenset[Any] | set[Any]) -> list[Any]:
    """The items in an order that is the same in every process."""
    if not all(type(value) in _PLAIN for value in values):
        raise _Unknown(values)
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))
