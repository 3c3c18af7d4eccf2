"""A compiled program: its text, its name, and its functions, made once or loaded from the cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from waterline.checker.compiler import cache, lookup_record, machine
from waterline.checker.compiler.function_ir import Written
from waterline.checker.compiler.lookup_record import Bindings, Found, Record, bindings_of
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.source import source_of
from waterline.checker.compiler.text_key import TextKey, key_of
from waterline.checker.compiler.values import Value


@dataclass(frozen=True, slots=True)
class Called:
    """A program's name and its functions, sufficient to load its machine code.

    Each argument of a function is marked if it is a pointer. `found` are the look-ups made to write
    it.
    """

    name: str
    functions: tuple[tuple[str, tuple[bool, ...]], ...]
    found: Found = field(compare=False)

    def as_bytes(self, record: Record) -> bytes:
        """Encode it for the cache."""
        return json.dumps([self.name, self.functions, record]).encode()


@dataclass(frozen=True, slots=True)
class Program:
    """A module in LLVM's text, its functions as in `Called`, and whether it has a model's rules.

    `found` is what was looked up to write it.
    """

    text: str
    functions: tuple[tuple[str, tuple[bool, ...]], ...]
    rules: bool
    found: Found = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """A name for all that its machine code is made of."""
        made_of = f"{machine.description()}\n{self.rules}\n{self.functions}\n{self.text}"
        return hashlib.sha256(made_of.encode()).hexdigest()[:32]

    @property
    def called(self) -> Called:
        """The facts needed to load the machine code."""
        return Called(self.name, self.functions, self.found)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a program is written: `write(*made_of)`; equal recipes make the same program."""

    write: Callable[..., Program]
    made_of: tuple[Any, ...]

    def program(self) -> Program:
        """The program, written unless it was since `look_up_anew`."""
        return _write(self)


@functools.lru_cache(maxsize=64)
def _write(recipe: Recipe) -> Program:
    made = recipe.write(*recipe.made_of)
    if len(_texts) >= _KNOWN_MAX:
        _texts.clear()
    _texts[made.name] = made
    return made


def program(unit: Unit, *roots: Written) -> Program:
    """The program whose functions these are, to be called from outside."""
    functions = (
        (root.name, tuple(parameter.startswith("ptr") for parameter in root.parameters))
        for root in roots
    )
    return Program(
        unit.text(*roots), tuple(functions), rules=not unit.trusted, found=unit.lookups.found
    )


def own_program(functions: tuple[tuple[Callable[..., Any], tuple[Value, ...]], ...]) -> Program:
    """Compile functions of the checker's own, each for arguments of these kinds.

    A constant among them is no longer an argument. Raises `NotCompilable`.
    """
    unit = Unit(trusted=True)
    written = [
        replace(unit.call(source_of(function), kinds), name=function.__name__)
        for function, kinds in functions
    ]
    return program(unit, *written)


def own_recipe(*functions: tuple[Callable[..., Any], tuple[Value, ...]]) -> Recipe:
    """Return the recipe of an `own_program`."""
    return Recipe(own_program, (functions,))


def is_at_hand(recipe: Recipe) -> bool:
    """True if machine code of a program is on disk or in this process, optimised or quick."""
    name = program_facts(recipe).name
    if name in _in_memory or name in _quick:
        return True
    return cache.lookup(name) is not None or cache.lookup(_quick_name(name)) is not None


OPTIMISE_AFTER_SECONDS_A_BYTE = 20e-6
"""Seconds of unoptimised execution per byte of code before optimising pays off (two thirds of the
compile time).
"""

_in_memory: dict[str, machine.Functions] = {}
"""Optimised machine code by the name of its program. It stays: threads may be in it."""
_quick: dict[str, machine.Functions] = {}
"""Unoptimised functions, by name of the program."""
_seconds: dict[str, float] = {}
"""Work in quick code, by the name of its program."""
_quick_bytes: dict[str, int] = {}
"""How large quick code is, by the name of its program."""
_optimisers: dict[str, threading.Thread] = {}
"""Threads that optimise a program, by its name, until they are done."""
_loading = threading.Lock()
_KNOWN_MAX = 256
_texts: dict[str, Program] = {}
"""Programs written, by name: the text for optimising in the background."""
_known: dict[str, bytes] = {}
"""Encoded `Called` by the name of their keys, where that is not kept on disk."""


def program_facts(recipe: Recipe) -> Called:
    """Return a program's name and functions; write the program only if they are unknown.

    They are then kept next to the machine code: see `checker.compiler.text_key`. If a name was
    rebound since this process found them, they are looked up anew.
    """
    known, bindings = _facts(recipe)
    if bindings.are_current():
        return known
    look_up_anew()
    return _facts(recipe)[0]


@functools.lru_cache(maxsize=64)
def _facts(recipe: Recipe) -> tuple[Called, Bindings]:
    """A program's facts, and what its names stood for at this process's first look-up."""
    key = key_of(recipe.write.__name__, machine.description(), *recipe.made_of)
    known = _read_or_written(recipe, key)
    return known, bindings_of(key.functions if key else (), known.found)


def _read_or_written(recipe: Recipe, key: TextKey | None) -> Called:
    if key is None:
        return recipe.program().called
    kept = (cache.lookup(key.name) if key.is_settled else None) or _known.get(key.name)
    if kept is not None:
        # What is no record of a program is written anew, however it came there.
        with contextlib.suppress(ValueError, TypeError, IndexError, RecursionError):
            name, functions, record = json.loads(kept)
            found = key.found_again(record)
            if found is not None:
                return Called(name, tuple((f, tuple(points)) for f, points in functions), found)
    written = recipe.program().called
    record = key.record(written.found)
    if record is not None:
        _keep_called(key, written.as_bytes(record))
    return written


def _keep_called(key: TextKey, content: bytes) -> None:
    if key.is_settled:
        cache.keep(key.name, content)
    if not key.is_settled or cache.lookup(key.name) != content:
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        _known[key.name] = content


def look_up_anew() -> None:
    """See anew, from now on, what names stand for: a program may have rebound them.

    A search begins so. Rules whose look-ups lead to the same content keep their machine code, which
    has the name of its text.
    """
    _write.cache_clear()
    _facts.cache_clear()
    lookup_record.forget()


def load_program(recipe: Recipe) -> machine.Functions:
    """The functions of a program, optimised; of several threads that ask one makes them."""
    known = program_facts(recipe)
    if (optimiser := _optimisers.get(known.name)) is not None:
        optimiser.join()
    if known.name not in _in_memory:
        with _loading:
            if known.name not in _in_memory:
                _in_memory[known.name] = _compile(known, recipe)
    return _in_memory[known.name]


def loaded_quickly(recipe: Recipe) -> machine.Functions:
    """The functions of a program of rules: optimised where that is at hand, else as they are.

    Both are made of the same text. What works with them for long has an `Optimising`, and loads
    them again once that is done.
    """
    known = program_facts(recipe)
    if known.name not in _in_memory and known.name not in _quick:
        with _loading:
            if known.name not in _in_memory and known.name not in _quick:
                if (optimised := _load_kept(known.name, known)) is not None:
                    _in_memory[known.name] = optimised
                else:
                    functions, _quick_bytes[known.name] = _made_quickly(known, recipe)
                    _quick[known.name] = functions  # Last: who finds it asks for its size.
    return _in_memory.get(known.name) or _quick[known.name]


class Optimising:
    """Programs that run as quick code, and are optimised in the background after a while."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        self._programs = [(program_facts(recipe), recipe) for recipe in recipes]

    @property
    def is_done(self) -> bool:
        """True if there are optimised functions for all of them by now."""
        return all(known.name in _in_memory for known, _ in self._programs)

    @property
    def functions(self) -> machine.Functions:
        """The optimised functions, once it is done, of the programs as they were looked up."""
        made = [_in_memory[known.name] for known, _ in self._programs]
        return {name: function for each in made for name, function in each.items()}

    def note_work(self, seconds: float) -> None:
        """Count it; after `optimise_after_seconds` of one program a thread begins to optimise it.

        Python waits for that thread at its end: a process must not go while LLVM is at work.
        """
        for known, recipe in self._programs:
            if known.name in _in_memory:
                continue
            worked = _seconds[known.name] = _seconds.get(known.name, 0.0) + seconds
            if worked >= optimise_after_seconds(known):
                _begin_to_optimise(known, recipe)


def optimise_after_seconds(known: Called) -> float:
    """How long a program is worked with in quick code, which is loaded, before it is optimised."""
    return OPTIMISE_AFTER_SECONDS_A_BYTE * _quick_bytes[known.name]


def _begin_to_optimise(known: Called, recipe: Recipe) -> None:
    """In a thread of its own, unless that was begun before."""
    with _loading:
        if known.name not in _optimisers and known.name not in _in_memory:
            thread = threading.Thread(target=_optimise, args=(known, recipe), name="optimising")
            _optimisers[known.name] = thread
            thread.start()


def _optimise(known: Called, recipe: Recipe) -> None:
    if _text(known, recipe).name == known.name:  # else names were rebound since the search began
        _in_memory[known.name] = _compile(known, recipe)
    del _optimisers[known.name]  # One that has failed stays: it is not tried again.


def _text(known: Called, recipe: Recipe) -> Program:
    return _texts.get(known.name) or recipe.program()


def _quick_name(name: str) -> str:
    return hashlib.sha256(f"{name} quick".encode()).hexdigest()[:32]


def _made_quickly(known: Called, recipe: Recipe) -> tuple[machine.Functions, int]:
    """Quick code, and its size in bytes."""
    name = _quick_name(known.name)
    code = cache.lookup(name)
    if code is None or (functions := _functions_of(code, known)) is None:
        made = _text(known, recipe)
        code = machine.quick_code(made.text)
        cache.keep(name, code)
        functions = machine.load(code, dict(made.functions))
    return functions, len(code)


def _load_kept(name: str, known: Called) -> machine.Functions | None:
    """Machine code that is kept under this name, if it can be loaded."""
    code = cache.lookup(name)
    return None if code is None else _functions_of(code, known)


def _functions_of(code: bytes, known: Called) -> machine.Functions | None:
    """The functions of machine code that was kept; None where it cannot be loaded."""
    with contextlib.suppress(RuntimeError):
        return machine.load(code, dict(known.functions))
    return None


def _compile(known: Called, recipe: Recipe) -> machine.Functions:
    if (functions := _load_kept(known.name, known)) is not None:
        return functions
    made = _text(known, recipe)
    code = machine.object_code(made.text, rules=made.rules)
    cache.keep(made.name, code)
    return machine.load(code, dict(made.functions))


def forget() -> None:
    """Load machine code anew from now on, as another process would."""
    for known in (_in_memory, _quick, _seconds, _quick_bytes, _known, _texts):
        known.clear()
    look_up_anew()
