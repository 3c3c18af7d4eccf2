"""Checks of a user model before its search: compiled rules, claims, bounds.

Every rule is compiled, so that an error names its line; claims must return a truth; and if a
symmetry is declared, the first states must behave alike under every permutation of names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from waterline.checker.compiler.function_ir import Written
from waterline.checker.compiler.ir import Return
from waterline.checker.compiler.kernel import TooLargeToNumber, plan_of
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.source import NotCompilable, source_of
from waterline.checker.compiler.values import Number, SettingsValue, StateValue
from waterline.checker.problem.problem import Problem
from waterline.checker.user_models.symmetric import require_alike
from waterline.model.core.claim import predicates_of
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Action, Model
from waterline.model.own.mistakes import line_of


def vet(problem: Problem) -> Problem:
    """The problem. Raises `BadEnvironment` for what would go wrong in the first states already."""
    model, unit = problem.model, Unit()
    others = (*problem.applicable, *problem.applicable_properties)
    if model.behaviours_refused and problem.applicable_behaviours and not others:
        raise BadEnvironment(model.behaviours_refused)
    truths: list[tuple[Callable[..., Any], int]] = [(c.holds, 1) for c in problem.invariants]
    truths += [(claim.keeps, 2) for claim in problem.properties]
    truths += [(claim.happens, 2) for claim in problem.reachable]
    truths += [(each, 1) for claim in problem.behaviours for each in predicates_of(claim)]
    checks = [partial(_require_compilable, unit, model, action) for action in model.actions]
    checks += [partial(_truth, unit, model, function, states) for function, states in truths]
    found: dict[str, None] = {}
    for check in checks:
        try:
            check()
        except NotCompilable as refused:
            found[str(refused)] = None
    if found:
        raise BadEnvironment("\n".join(sorted(found, key=line_of)))
    try:
        plan_of(problem)
    except (NotCompilable, TooLargeToNumber) as refused:
        raise BadEnvironment(str(refused)) from None
    for sort in problem.symmetry.sorts:
        require_alike(problem, sort)
    return problem


def _require_compilable(unit: Unit, model: Model, action: Action) -> None:
    """See that guard, limit and effect of an action can be compiled."""
    numbers = [Number("%", 0, model.layout.sizes[each.over] - 1) for each in action.parameters]
    _truth(unit, model, action.guard, 1, numbers)
    if action.limit is not None:
        _writes(unit, model, action.limit, 1, numbers, writable=action.limit_writes)
    _effect(unit, model, action.effect, numbers)


def _writes(
    unit: Unit,
    model: Model,
    function: Callable[..., Any],
    states: int,
    numbers: Any = (),
    *,
    writable: bool = False,
) -> Written:
    looked_at = [StateValue(f"%{n}", model.layout, writable=writable) for n in range(states)]
    return unit.call(source_of(function), [*looked_at, SettingsValue((), (), ""), *numbers])


def _truth(
    unit: Unit, model: Model, function: Callable[..., Any], states: int, numbers: Any = ()
) -> None:
    """Check that a guard or a claim returns True or False, whatever the state is."""
    written = _writes(unit, model, function, states, numbers)
    source = source_of(function)
    if len(written.returns) != 1 or not written.returns[0].within(0, 1):
        lines = [
            each.line for each in lower_function(source).statements() if isinstance(each, Return)
        ]
        line = lines[0] if lines else source.line
        raise source.refuse(line, "it returns no boolean", "return a condition, True or False")


def _effect(unit: Unit, model: Model, function: Callable[..., Any], numbers: Any) -> None:
    state = StateValue("%s", model.layout, writable=True)
    unit.call(source_of(function), [state, SettingsValue((), (), ""), *numbers])
