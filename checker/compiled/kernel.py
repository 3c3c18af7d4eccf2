"""From a problem to machine code: its rules and claims, and the loops that call them.

A kernel is made for one problem: its settings are constants, and only the actions that its version
has and the claims that are checked are in it. Problems of one job may share a kernel
(`checker.problem.Shared`): it then reads the settings in which they differ as it runs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.compiled import cache, machine, orders, recognised, states
from checker.compiled.canonical import canonical_source
from checker.compiled.loops import Parts, column, keep_least, loops_of
from checker.compiled.source import generated
from checker.compiled.unit import Unit
from checker.compiled.values import ArrayValue, Number, SettingsValue, Value
from checker.compiled.written import Written
from checker.problem import Problem
from checker.symmetry import Symmetry
from model.layout import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from checker.store.blocks import Rows

ACTIONS_MAX = 1 << 8
ARGUMENTS_MAX = 1 << 16
MASK_BITS = 63


class TooLargeToNumber(ValueError):
    """A model has more actions, arguments or claims than the numbers of a kernel have room for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a kernel is made of; equal plans make the same kernel.

    `numbers` are the settings in order, None for those that are read as it runs.
    """

    layout: Layout
    names: tuple[str, ...]
    numbers: tuple[int | None, ...]
    parts: Parts


@dataclass(frozen=True, slots=True)
class Called:
    """What a program is called, and its functions: what loading its machine code takes.

    Of each argument of a function it says whether it points somewhere.
    """

    name: str
    functions: tuple[tuple[str, tuple[bool, ...]], ...]

    def as_bytes(self) -> bytes:
        """To be kept."""
        return json.dumps([self.name, self.functions]).encode()

    @staticmethod
    def from_bytes(content: bytes) -> Called:
        """What was kept."""
        name, functions = json.loads(content)
        return Called(name, tuple((each, tuple(points)) for each, points in functions))


@dataclass(frozen=True, slots=True)
class Program:
    """A module in LLVM's text, and its functions as in `Called`."""

    text: str
    functions: tuple[tuple[str, tuple[bool, ...]], ...]

    @property
    def name(self) -> str:
        """A name for all that its machine code is made of."""
        made_of = f"{machine.description()}\n{self.functions}\n{self.text}"
        return hashlib.sha256(made_of.encode()).hexdigest()[:32]

    @property
    def called(self) -> Called:
        """What is to be known of it once its machine code is there."""
        return Called(self.name, self.functions)


@dataclass(frozen=True, slots=True)
class Kernel:
    """The compiled form of a problem.

    `expand` and `inspect` are as `checker.compiled.loops` writes them; `reads_settings` says
    whether their first argument is where the settings are. `successors_max` is the most that one
    state can have.
    """

    expand: Callable[..., int]
    inspect: Callable[..., int]
    reads_settings: bool
    successors_max: int


def plan_of(problem: Problem) -> Plan:
    """What the kernel of a problem is made of. Raises `TooLargeToNumber`."""
    model, shared = problem.model, problem.shared
    varying = shared.settings if shared else frozenset()
    actions = frozenset(model.contents) | (shared.actions if shared else frozenset())
    claims = frozenset(problem.checked) | (shared.claims if shared else frozenset())
    parts = Parts(
        words=model.layout.words,
        sizes=tuple(sorted(model.layout.sizes.items())),
        limits=len(model.limits),
        claims=max(1, len(problem.invariants), len(problem.properties)),
        actions=tuple((i, a) for i, a in enumerate(model.actions) if a.name in actions),
        holds=tuple((i, c.holds) for i, c in enumerate(problem.invariants) if c.name in claims),
        keeps=tuple((i, c.keeps) for i, c in enumerate(problem.properties) if c.name in claims),
        happens=tuple((i, claim.happens) for i, claim in enumerate(problem.reachable)),
        shared=shared is not None,
    )
    _require_room(parts, len(problem.invariants), len(problem.properties))
    names = tuple(model.settings._fields)
    numbers = tuple(
        None if name in varying else int(value)
        for name, value in zip(names, model.settings, strict=True)
    )
    return Plan(model.layout, names, numbers, parts)


def _require_room(parts: Parts, *claims: int) -> None:
    """What the kernel numbers fits the bits that it has for it."""
    actions = 1 + max((number for number, _ in parts.actions), default=0)
    counts = [
        (actions, ACTIONS_MAX, "actions"),
        *((parts.bindings(a), ARGUMENTS_MAX, f"arguments of {a.name}") for _, a in parts.actions),
    ]
    if parts.shared:
        counts += [(actions, MASK_BITS, "actions of problems that share a kernel")]
        counts += [
            (number, MASK_BITS, "claims of problems that share a kernel") for number in claims
        ]
    for count, most, what in counts:
        if count > most:
            raise TooLargeToNumber(f"{count:,} {what}: a kernel can number {most:,}; have fewer")


@functools.lru_cache(maxsize=64)
def program_of(plan: Plan, *, comment: bool = False) -> Program:
    """The two loops of a plan, with all that they call. Raises `NotCompilable`."""
    loops = loops_of(plan.parts)
    unit = Unit(comment=comment)
    names = {
        **loops.names,
        **states.intrinsics(plan.layout),
        "keep_least": keep_least,
        "column": column,
    }
    functions = generated(loops.text, names)
    c = SettingsValue(plan.names, plan.numbers, "%c")
    number, words = Number("%"), ArrayValue("%", "i64")
    rows, flags = ArrayValue("%", "i64", plan.layout.words), ArrayValue("%", "i8")
    cut = ArrayValue("%", "i64", plan.parts.limits)
    expand: list[Value] = [c, number, number, rows, number, number, rows, number]
    expand += [words, words, cut, flags, flags, flags, rows, words]
    inspect: list[Value] = [c, number, rows, number, number, flags, rows]
    return _program(
        unit,
        unit.call(functions["expand"], expand),
        unit.call(functions["inspect"], inspect),
    )


@functools.lru_cache(maxsize=64)
def canonical_program(form: Layout, symmetry: Symmetry) -> Program:
    """What replaces states of a layout by their representatives; no rule or claim is in it."""
    unit = Unit()
    helpers = (orders.sort_by_signature, orders.next_order, orders.name_rest)
    names = {**states.intrinsics(form), **{helper.__name__: helper for helper in helpers}}
    functions = generated(canonical_source(form, symmetry), names)
    rows = ArrayValue("%", "i64", form.words)
    return _program(unit, unit.call(functions["canonical"], [rows, Number("%")]))


def _program(unit: Unit, *roots: Written) -> Program:
    functions = (
        (root.name, tuple(parameter.startswith("ptr") for parameter in root.parameters))
        for root in roots
    )
    return Program(unit.text(*roots), tuple(functions))


def kernel_of(problem: Problem) -> Kernel:
    """The kernel of a problem, made now or loaded from the cache."""
    plan = plan_of(problem)
    functions = _loaded(program_of, plan)
    return Kernel(
        functions["expand"],
        functions["inspect"],
        None in plan.numbers,
        plan.parts.successors_max,
    )


def canonical_of(problem: Problem) -> Callable[[Rows], None] | None:
    """What replaces rows by their representatives; None where no symmetry is asked for."""
    if problem.symmetry is Symmetry.NONE:
        return None
    form, symmetry = problem.model.layout, problem.symmetry
    canonical = _loaded(canonical_program, form, symmetry)["canonical"]

    def replace(rows: Rows) -> None:
        canonical(address(rows), len(rows))

    return replace


def is_compiled(problem: Problem) -> bool:
    """Whether all machine code for the problem is at hand, on disk or in this process."""
    plan = plan_of(problem)
    called = [_called(program_of, plan)]
    if problem.symmetry is not Symmetry.NONE:
        form, symmetry = problem.model.layout, problem.symmetry
        called.append(_called(canonical_program, form, symmetry))
    return all(each.name in _in_memory or cache.kept(each.name) is not None for each in called)


_in_memory: dict[str, machine.Functions] = {}
"""Machine code by the name of its program. It stays: threads may be in it."""
_loading = threading.Lock()


@functools.lru_cache(maxsize=64)
def _called(write: Callable[..., Program], *made_of: object) -> Called:
    """What the program is called that `write` makes of these; written only if that is not known.

    Once it was written that is kept beside the machine code, by a key of all it was made of.
    """
    key = recognised.key_of(write.__name__, machine.description(), *made_of)
    if key is None:
        return write(*made_of).called
    known = cache.kept(key)
    if known is not None:
        with contextlib.suppress(ValueError, TypeError):
            return Called.from_bytes(known)
    called = write(*made_of).called
    cache.keep(key, called.as_bytes())
    return called


def _loaded(write: Callable[..., Program], *made_of: object) -> machine.Functions:
    """The functions of a program; of several threads that ask for the same one makes them."""
    called = _called(write, *made_of)
    if called.name not in _in_memory:
        with _loading:
            if called.name not in _in_memory:
                _in_memory[called.name] = _made(called, write, *made_of)
    return _in_memory[called.name]


def _made(called: Called, write: Callable[..., Program], *made_of: object) -> machine.Functions:
    code = cache.kept(called.name)
    if code is not None:
        with contextlib.suppress(RuntimeError):
            return machine.load(code, dict(called.functions))
    code = machine.object_code(write(*made_of).text)
    cache.keep(called.name, code)
    return machine.load(code, dict(called.functions))


def address(array: NDArray[Any]) -> int:
    """Where an array is; its elements follow each other."""
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} has gaps: give np.ascontiguousarray")
    place: int = array.__array_interface__["data"][0]
    return place
