"""The kernel of a problem: rules, claims and the loops that call them.

A kernel is made for one problem: its settings are constants, and only the actions of its version
and the claims that are checked are in it. Problems of one job may share a kernel
(`checker.problem.problem.Shared`): at run time it reads the settings that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from waterline.checker.compiler import orders, states
from waterline.checker.compiler.canonical import canonical_source
from waterline.checker.compiler.function_ir import Written
from waterline.checker.compiler.loops import Parts, column, keep_least, loops_of
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.program import (
    Optimising,
    Program,
    Recipe,
    is_at_hand,
    loaded_quickly,
    program,
)
from waterline.checker.compiler.source import source_of, sources_of
from waterline.checker.compiler.values import ArrayValue, Number, SettingsValue, StateValue, Value
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.core.layout import Layout

ACTIONS_MAX = 1 << 8
ARGUMENTS_MAX = 1 << 16
MASK_BITS = 63
_SETTINGS = "ptr %c"


class TooLargeToNumber(ValueError):
    """A model has more actions, arguments or claims than the numbers of a kernel have room for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Inputs of a kernel; equal plans make the same kernel.

    `numbers` are the settings in order, None for those that are read as it runs.
    """

    layout: Layout
    names: tuple[str, ...]
    numbers: tuple[int | None, ...]
    parts: Parts


@dataclass(frozen=True, slots=True)
class Kernel:
    """The compiled form of a problem.

    `expand` and `inspect` are as `checker.compiler.loops` writes them. `canonical` replaces so many
    rows from an address on by their representatives; None without a symmetry. `successors_max` is
    the most that one state can have.
    """

    expand: Callable[..., int]
    inspect: Callable[..., int]
    canonical: Callable[..., int] | None
    successors_max: int


def plan_of(problem: Problem) -> Plan:
    """Return the inputs of a problem's kernel. Raises `TooLargeToNumber`."""
    model, shared = problem.model, problem.shared
    actions = frozenset(model.contents) | (shared.actions if shared else frozenset())
    claims = frozenset(problem.checked) | (shared.claims if shared else frozenset())
    parts = Parts(
        words=model.layout.words,
        sizes=tuple(sorted(model.layout.sizes.items())),
        limits=model.limits,
        claims=max(1, len(problem.invariants), len(problem.properties)),
        actions=tuple((i, a) for i, a in enumerate(model.actions) if a.name in actions),
        holds=tuple((i, c.holds) for i, c in enumerate(problem.invariants) if c.name in claims),
        keeps=tuple((i, c.keeps) for i, c in enumerate(problem.properties) if c.name in claims),
        happens=tuple(
            (i, claim.happens)
            for i, claim in enumerate(problem.reachable)
            if shared or claim.applies(model.settings)
        ),
        normalise=model.normalise,
        renames=model.concretise is not None,
        shared=shared is not None,
    )
    _require_room(parts, len(problem.invariants), len(problem.properties))
    return Plan(model.layout, tuple(model.settings._fields), constants_of_settings(problem), parts)


def constants_of_settings(problem: Problem) -> tuple[int | None, ...]:
    """The settings in order, None for those that are read as the kernel runs."""
    settings = problem.model.settings
    varying = problem.shared.settings if problem.shared else frozenset()
    pairs = zip(settings._fields, settings, strict=True)
    return tuple(None if name in varying else int(value) for name, value in pairs)


def _require_room(parts: Parts, *claims: int) -> None:
    """Raise `TooLargeToNumber` if the kernel's numbers do not fit their bits."""
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


def program_of(plan: Plan, *, comment: bool = False) -> Program:
    """The two loops of a plan, with all that they call. Raises `NotCompilable`."""
    unit = Unit(comment=comment)
    c = SettingsValue(plan.names, plan.numbers, "%c")
    step = [StateValue("%", plan.layout, writable=False)] * 2
    happens = ((number, unit.call(source_of(f), [*step, c])) for number, f in plan.parts.happens)
    raising = frozenset(number for number, written in happens if written.faults)
    loops = loops_of(replace(plan.parts, raising=raising))
    names = {
        **loops.names,
        **states.intrinsics(plan.layout),
        "keep_least": keep_least,
        "column": column,
    }
    functions = sources_of(loops.text, names)
    number, words = Number("%"), ArrayValue("%", "i64")
    rows, flags = ArrayValue("%", "i64", plan.layout.words), ArrayValue("%", "i8")
    cut = ArrayValue("%", "i64", len(plan.parts.limits))
    expand: list[Value] = [c, number, number, rows, number, number, rows, number]
    expand += [words, words, cut, flags, flags, flags, rows, words]
    inspect: list[Value] = [c, number, rows, number, number, flags, rows]
    roots = unit.call(functions["expand"], expand), unit.call(functions["inspect"], inspect)
    return program(unit, *map(given_settings, roots))


def given_settings(root: Written) -> Written:
    """Return the function with the settings' address as first argument, even if unused."""
    if root.parameters[0] == _SETTINGS:
        return root
    return replace(root, parameters=(_SETTINGS, *root.parameters))


def canonical_program(form: Layout, symmetry: Symmetry) -> Program:
    """Return the program that replaces states by their representatives; it has no rules."""
    unit = Unit()
    helpers = (orders.sort_by_signature, orders.next_order, orders.name_rest)
    names = {**states.intrinsics(form), **{helper.__name__: helper for helper in helpers}}
    functions = sources_of(canonical_source(form, symmetry), names)
    rows = ArrayValue("%", "i64", form.words)
    return program(unit, unit.call(functions["canonical"], [rows, Number("%")]))


def kernel_of(problem: Problem) -> Kernel:
    """The kernel of a problem, made now or loaded from the cache; optimised if that is at hand.

    What works with it for long has an `optimising`, and asks again once that is done.
    """
    plan = plan_of(problem)
    functions = loaded_quickly(Recipe(program_of, (plan,)))
    return Kernel(
        functions["expand"],
        functions["inspect"],
        canonical_of(problem),
        plan.parts.successors_max,
    )


def canonical_of(problem: Problem) -> Callable[..., int] | None:
    """The function that replaces rows by their representatives: see `Kernel`."""
    if not problem.symmetry.sorts:
        return None
    recipe = Recipe(canonical_program, (problem.model.layout, problem.symmetry))
    return loaded_quickly(recipe)["canonical"]


def canonicalise(problem: Problem, rows: Rows) -> None:
    """Replace rows by their representatives, if the problem has a symmetry."""
    if (canonical := canonical_of(problem)) is not None:
        canonical(address(rows), len(rows))


def recipes_of(problem: Problem) -> tuple[Recipe, ...]:
    """All that is compiled for a problem."""
    recipes = [Recipe(program_of, (plan_of(problem),))]
    if problem.symmetry.sorts:
        recipes.append(Recipe(canonical_program, (problem.model.layout, problem.symmetry)))
    return tuple(recipes)


def is_compiled(problem: Problem) -> bool:
    """True if all machine code for the problem is at hand, on disk or in this process."""
    return all(map(is_at_hand, recipes_of(problem)))


def optimising(problem: Problem) -> Optimising:
    """Return the counter of work in an unoptimised kernel, which has it optimised."""
    return Optimising(recipes_of(problem))
