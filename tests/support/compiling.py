"""Small functions, compiled and interpreted side by side.

A function is `f(t, c, a)`: a state to write to, settings, an argument; it returns a number. It is
written to a file, because what is compiled is the text that Python runs.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tests.support.states import packed
from waterline.checker.compiler import machine, states
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.source import sources_of
from waterline.checker.compiler.values import ArrayValue, Number, SettingsValue
from waterline.checker.problem.packed_rows import address
from waterline.model.core.layout import Field, Layout
from waterline.model.core.machine_numbers import TooManyRounds
from waterline.model.core.state import NotAlive, State

ARGUMENTS = 3
FAULT = "fault"
Outcome = tuple[int, tuple[int, ...]] | str
"""What a function returns and leaves behind, or that it faults."""

_LOOP = """
def run(c, rows, out, result, a):
    s = state_at(rows, 0)
    t = copy_of(s)
    result[0] = f(t, c, any_of(a))
    put(t, out, 0)
    if faulted():
        return 2
    return 3


def flatly(c, rows, result, a):
    s = state_at(rows, 0)
    result[0] = flat(0, f, s, c, any_of(a))
    if raised():
        return 2
    return 3 + sure(0)
"""
_MODULES = itertools.count()


class Settings(NamedTuple):
    """Settings of no meaning."""

    low: int = -3
    none: int = 0
    high: int = 5


def small_layout() -> Layout:
    """Fields of every kind: narrow, wide, constant, negative, rows in one word and in several."""
    return Layout(
        [
            Field(name="x", doc="", lo=-3, hi=5),
            Field(name="y", doc="", hi=7),
            Field(name="one", doc="", lo=1, hi=1),
            Field(name="wide", doc="", lo=-(1 << 40), hi=(1 << 40)),
            Field(name="row", doc="", lo=-1, hi=2, shape=(3,)),
            Field(name="table", doc="", hi=6, shape=(3, 2)),
            Field(name="far", doc="", hi=(1 << 30) - 1, shape=(4,)),
            Field(name="grid", doc="", lo=-2, hi=500, shape=(3, 3)),
        ],
        sizes={"width": 3},
    )


def drawn(layout: Layout, count: int) -> list[State]:
    """States with every field anywhere in its range, the first ones at its ends."""
    random = np.random.default_rng(7)
    found = []
    for number in range(count):
        values = {}
        for f in layout.fields:
            ends = random.choice([f.lo, f.hi], f.shape)
            anywhere = random.integers(f.lo, f.hi, f.shape, endpoint=True)
            values[f.name] = (ends if number < 4 else anywhere).tolist()
        found.append(packed(layout, values))
    return found


ALL_STATES = drawn(small_layout(), 24)


def module_of(text: str, folder: Path) -> ModuleType:
    """A module with this text; all are called the same, and each has a file of its own."""
    path = folder / f"rules{next(_MODULES)}.py"
    path.write_text(text)
    return module_from(path)


def module_from(path: Path) -> ModuleType:
    """The module in a file, called as all others are."""
    spec = importlib.util.spec_from_file_location("rules", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Both:
    """A function, interpreted and compiled."""

    def __init__(
        self,
        function: Any,
        layout: Layout,
        settings: Any = Settings(),  # noqa: B008 - a value
        varying: Sequence[str] = (),
    ) -> None:
        self.function, self.layout, self.settings = function, layout, settings
        self.reads_settings = bool(varying)
        unit = Unit()
        names: Mapping[str, Any] = {"f": function, **states.intrinsics(layout)}
        loops = sources_of(_LOOP.replace("any_of(a)", f"any_of(a, {ARGUMENTS})"), names)
        numbers = tuple(
            None if name in varying else value
            for name, value in zip(settings._fields, settings, strict=True)
        )
        rows = ArrayValue("%", "i64", layout.words)
        c = SettingsValue(settings._fields, numbers, "%c")
        result = ArrayValue("%", "i64")
        roots = [
            unit.call(loops["run"], [c, rows, rows, result, Number("%")]),
            unit.call(loops["flatly"], [c, rows, result, Number("%")]),
        ]
        self.text = unit.text(*roots)
        self._points = {
            root.name: [parameter.startswith("ptr") for parameter in root.parameters]
            for root in roots
        }
        self._loaded: machine.Functions = {}

    def _code(self, name: str) -> Callable[..., int]:
        if not self._loaded:
            self._loaded = machine.load(machine.object_code(self.text, rules=True), self._points)
        return self._loaded[name]

    def forget(self) -> None:
        """Make machine code anew when it is needed next."""
        self._loaded = {}

    def compiled(self, state: State, argument: int) -> Outcome:
        """What the compiled form comes to."""
        rows = np.array([state.words], np.uint64)
        out, result = np.zeros_like(rows), np.zeros(1, np.int64)
        values = np.array(self.settings, np.int64)
        settings = [address(values)] if self.reads_settings else []
        ended = self._code("run")(*settings, address(rows), address(out), address(result), argument)
        if ended == 2:
            return FAULT
        return int(result[0]), tuple(int(word) for word in out[0])

    def flat(self, state: State, argument: int) -> int | str | None:
        """What the form without branches comes to; None for what has no such form."""
        rows, result = np.array([state.words], np.uint64), np.zeros(1, np.int64)
        values = np.array(self.settings, np.int64)
        settings = [address(values)] if self.reads_settings else []
        ended = self._code("flatly")(*settings, address(rows), address(result), argument)
        if ended == 3:
            return None
        return FAULT if ended == 2 else int(result[0])

    def interpreted(self, state: State, argument: int) -> Outcome:
        """What Python comes to."""
        return interpreted(self.function, self.settings, state, argument)


def interpreted(function: Any, settings: Any, state: State, argument: int) -> Outcome:
    """What a function comes to in Python."""
    draft = state.draft()
    try:
        returned = function(draft, settings, argument)
    except NotAlive:
        raise
    except (ArithmeticError, ValueError, IndexError, TooManyRounds):
        return FAULT
    return int(returned or 0), draft.words
