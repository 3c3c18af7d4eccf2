"""A compiled program: its text, its name, and its functions, made once or loaded from the cache."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checker.compiled import cache, machine
from checker.compiled.source import source_of
from checker.compiled.unit import Unit
from checker.compiled.values import Value
from checker.compiled.written import Written


@dataclass(frozen=True, slots=True)
class Program:
    """A module in LLVM's text, and its functions: of each argument whether it points somewhere."""

    text: str
    functions: tuple[tuple[str, tuple[bool, ...]], ...]

    @property
    def name(self) -> str:
        """A name for all that its machine code is made of."""
        made_of = f"{machine.description()}\n{self.functions}\n{self.text}"
        return hashlib.sha256(made_of.encode()).hexdigest()[:32]


def program(unit: Unit, *roots: Written) -> Program:
    """The program whose functions these are, to be called from outside."""
    functions = (
        (root.name, tuple(parameter.startswith("ptr") for parameter in root.parameters))
        for root in roots
    )
    return Program(unit.text(*roots), tuple(functions))


def own_program(functions: Mapping[Callable[..., Any], Sequence[Value]]) -> Program:
    """The program of functions of the checker's own, each for arguments of these kinds.

    A constant among them is no argument any more. Raises `NotCompilable`.
    """
    unit = Unit(trusted=True)
    written = [
        replace(unit.call(source_of(function), kinds), name=function.__name__)
        for function, kinds in functions.items()
    ]
    return program(unit, *written)


def is_at_hand(asked: Program) -> bool:
    """Whether the machine code of a program is on disk or in this process."""
    return asked.name in _in_memory or cache.kept(asked.name) is not None


_in_memory: dict[str, machine.Functions] = {}
"""Machine code by the name of its program. It stays: threads may be in it."""
_loading = threading.Lock()


def loaded(asked: Program) -> machine.Functions:
    """The functions of a program; of several threads that ask for the same one makes them."""
    name = asked.name
    if name not in _in_memory:
        with _loading:
            if name not in _in_memory:
                _in_memory[name] = _made(asked)
    return _in_memory[name]


def _made(asked: Program) -> machine.Functions:
    code = cache.kept(asked.name)
    if code is not None:
        with contextlib.suppress(RuntimeError):
            return machine.load(code, dict(asked.functions))
    code = machine.object_code(asked.text)
    cache.keep(asked.name, code)
    return machine.load(code, dict(asked.functions))
