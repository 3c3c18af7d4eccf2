"""Checks of a user model before its search: compiled rules, claims, bounds.

Every rule is compiled, so that an error names its line; claims must return a truth; and if a
symmetry is declared, the first states must behave alike under every permutation of names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.compiler.function_ir import Written
from checker.compiler.ir import Return
from checker.compiler.kernel import TooLargeToNumber, plan_of
from checker.compiler.lower import lowered
from checker.compiler.module import Unit
from checker.compiler.source import NotCompilable, source_of
from checker.compiler.values import Number, SettingsValue, StateValue
from checker.problem.problem import Problem
from checker.user_models.symmetric import require_alike
from model.core.claim import predicates_of
from model.core.errors import BadEnvironment
from model.core.transition_system import Model


def vetted(problem: Problem) -> Problem:
    """The problem. Raises `BadEnvironment` for what would go wrong in the first states already."""
    model, unit = problem.model, Unit()
    if model.behaviours_refused and problem.applicable_behaviours:
        raise BadEnvironment(model.behaviours_refused)
    try:
        for action in model.actions:
            numbers = [
                Number("%", 0, model.layout.sizes[parameter.over] - 1)
                for parameter in action.parameters
            ]
            _truth(unit, model, action.guard, 1, numbers)
            if action.limit is not None:
                _written(unit, model, action.limit, 1, numbers, writable=action.limit_writes)
            _effect(unit, model, action.effect, numbers)
        for holds in (claim.holds for claim in problem.invariants):
            _truth(unit, model, holds, 1)
        for keeps in (claim.keeps for claim in problem.properties):
            _truth(unit, model, keeps, 2)
        for happens in (claim.happens for claim in problem.reachable):
            _truth(unit, model, happens, 2)
        for behaviour in problem.behaviours:
            for predicate in predicates_of(behaviour):
                _truth(unit, model, predicate, 1)
        plan_of(problem)
    except (NotCompilable, TooLargeToNumber) as refused:
        raise BadEnvironment(str(refused)) from None
    for sort in problem.symmetry.sorts:
        require_alike(problem, sort)
    return problem


def _written(
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
    """See that a guard or a claim comes to True or False, whatever the state is."""
    written = _written(unit, model, function, states, numbers)
    source = source_of(function)
    if len(written.returns) != 1 or not written.returns[0].within(0, 1):
        lines = [each.line for each in lowered(source).statements() if isinstance(each, Return)]
        line = lines[0] if lines else source.line
        raise source.refuse(line, "it returns no boolean", "return a condition, True or False")


def _effect(unit: Unit, model: Model, function: Callable[..., Any], numbers: Any) -> None:
    state = StateValue("%s", model.layout, writable=True)
    unit.call(source_of(function), [state, SettingsValue((), (), ""), *numbers])
