"""Checks of a user model before its search: compiled rules, claims, bounds.

Every rule is compiled, so that an error names its line; claims must return a truth; and if a
symmetry is declared, some states must behave alike when two neighbouring names are exchanged. That
is a test, not a proof: a rule that goes by names only in other states is not found.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from waterline.checker.compiler.function_ir import Written
from waterline.checker.compiler.ir import Return
from waterline.checker.compiler.kernel import TooLargeToNumber, plan_of
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.source import NotCompilable, source_of
from waterline.checker.compiler.values import Number, SettingsValue, StateValue
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Move, Names, Renamer, renamed_number
from waterline.checker.search.rule_errors import Failure, attempt
from waterline.model.core.claim import predicates_of
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import Layout
from waterline.model.core.renaming import Sort
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Arguments, Model, Step
from waterline.model.own.mistakes import place_of


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
        raise BadEnvironment("\n".join(sorted(found, key=place_of)))
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


STATES_MAX = 60
WALKS = 8
WALK_STEPS = 15


def require_alike(problem: Problem, sort: Sort) -> None:
    """Raise `BadEnvironment` with a state whose rules distinguish names of a sort."""
    model = problem.model
    for state in _some_states(model):
        for one in range(model.layout.sizes[sort.value] - 1):
            text = _difference(problem, state, sort, one)
            if text is not None:
                raise BadEnvironment(
                    f"{text} tells names apart, numbers {one} and {one + 1} of the {sort.value}, "
                    f"in {model.narration.whole(state)}; leave out --symmetry, or only compare "
                    "names for being the same"
                )


def _some_states(model: Model) -> Iterator[State]:
    """The first states breadth first, then those of some walks, always the same."""
    seen = dict.fromkeys(model.initial)
    frontier = list(seen)
    while frontier and len(seen) <= STATES_MAX:
        yield from frontier
        arrived = [step.after for state in frontier for step in _steps(model, state)]
        frontier = [state for state in dict.fromkeys(arrived) if state not in seen]
        seen |= dict.fromkeys(frontier)
    chance = random.Random(0)
    for _ in range(WALKS):
        state = chance.choice(model.initial)
        for _ in range(WALK_STEPS):
            steps = list(_steps(model, state))
            if not steps:
                break
            state = chance.choice(steps).after
            yield state


def _difference(problem: Problem, state: State, sort: Sort, one: int) -> str | None:
    """Return the action or claim that changes if two names are exchanged in the state."""
    model, other = problem.model, exchange(state, sort, one)
    new = {sort: _exchange_of(model.layout, sort, one)}
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            renamed = tuple(
                new[sort][value]
                if parameter.over == sort.value
                else renamed_number(parameter.digits, new, value)
                for value, parameter in zip(arguments, action.parameters, strict=True)
            )
            here, there = (
                _after(model, state, action, arguments),
                _after(model, other, action, renamed),
            )
            if not isinstance(here, State) or not isinstance(there, State):
                if here is not there:
                    return action.name
                continue
            if exchange(here, sort, one) != there:
                return action.name
            for name, is_so in _of_steps(problem):
                if _ask(is_so, state, here, ()) != _ask(is_so, other, there, ()):
                    return name
    for name, is_so in _of_states(problem):
        if _ask(is_so, state, model.settings) != _ask(is_so, other, model.settings):
            return name
    return None


def _of_steps(problem: Problem) -> Iterator[tuple[str, Callable[..., bool]]]:
    """Yield the predicates about steps, each with the name of its claim."""
    yield from ((claim.name, claim.keeps) for claim in problem.applicable_properties)
    yield from ((claim.name, claim.happens) for claim in problem.reachable)


def _of_states(problem: Problem) -> Iterator[tuple[str, Callable[..., bool]]]:
    """Yield the predicates about states, each with the name of its claim."""
    yield from ((claim.name, claim.holds) for claim in problem.applicable)
    for claim in problem.reachable:
        if claim.begun is not None:
            yield claim.name, claim.begun


_RAISES = "it raises an error"
"""Result of a rule that raises: the search finds the error, and the way there."""


def _steps(model: Model, state: State) -> Iterator[Step]:
    """Every step out of a state but those that raise."""
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            step = attempt(model, state, action, arguments)
            if isinstance(step, Step):
                yield step


def _after(model: Model, state: State, action: Action, arguments: Arguments) -> State | str | None:
    """Where a step leads, None if it is not taken."""
    step = attempt(model, state, action, arguments)
    if isinstance(step, Failure):
        return _RAISES
    return step.after if step is not None else None


def _ask(is_so: Callable[..., bool], *given: object) -> bool | str:
    try:
        return bool(is_so(*given))
    except Exception:  # Told by the search, as above.
        return _RAISES


def exchange(state: State, sort: Sort, one: int) -> State:
    """The state with the name `one` and the one after it exchanged everywhere."""
    renamer, moves = _moves(state.layout, sort, one)
    return State(state.layout, renamer.rename(state.words, moves))


@lru_cache(maxsize=64)
def _moves(layout: Layout, sort: Sort, one: int) -> tuple[Renamer, list[Move]]:
    renamer = Renamer(layout)
    return renamer, list(renamer.moves({sort: _exchange_of(layout, sort, one)}))


def _exchange_of(layout: Layout, sort: Sort, one: int) -> Names:
    return (*range(one), one + 1, one, *range(one + 2, layout.sizes[sort.value]))
