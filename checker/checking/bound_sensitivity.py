"""Bound sensitivity: the number of states with each bound lowered by one.

A budget's use is counted in the state and only grows. So the states that do not use the last unit
are those reached without it: they are counted, and exactly that many are left with the budget
lowered by one, if no rule reads that setting otherwise. A size, such as the number of records, is
not stored in states: the space is explored once more with the next lower value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from waterline.checker.checking.run import run
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.profile import Profile
from waterline.checker.search.result import Budgets, Result
from waterline.model.core.errors import BadEnvironment

AGAIN_MAX = 5_000_000
"""Larger spaces are not explored once more."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """An option with its next lower value, and the states that are left, of the same search.

    They were `counted` in the states of this run, or else explored; None where that was not done.
    """

    option: str
    states: int | None
    counted: bool


def lowered_bounds(
    result: Result,
    profile: Profile,
    choice: EngineChoice,
    announce: Callable[[str], None] = lambda message: None,
) -> tuple[Lowered, ...]:
    """Every bound that can be lowered, the one that leaves fewest states first."""
    found = [*_budgets(result.problem, profile), *_sizes(result, choice, announce)]
    worth = result.distinct + 1
    return tuple(sorted(found, key=lambda each: worth if each.states is None else each.states))


def _budgets(problem: Problem, profile: Profile) -> Iterator[Lowered]:
    model, words = problem.model, words_of(problem)
    budgets = {action.budget.used: action.budget for action in model.actions if action.budget}
    for used, budget in budgets.items():
        value = int(getattr(model.settings, budget.setting))
        if value > 0 and used in profile.faults:
            left = sum(profile.faults[used][:value])
            yield Lowered(words.option(budget.name, value - 1), left, counted=True)


def _sizes(
    result: Result, choice: EngineChoice, announce: Callable[[str], None]
) -> Iterator[Lowered]:
    problem = result.problem
    model, words, family = problem.model, words_of(problem), problem.family
    if family is None:
        return
    for size in words.raisable:
        value = model.options.get(size)
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        options, symmetry = {**model.options, size: value - 1}, problem.symmetry.value
        try:
            smaller = family.problem(model.version, options, symmetry=symmetry)
        except BadEnvironment:
            continue
        if smaller.model.layout == model.layout:
            continue  # without bounds there is no highest epoch
        option = words.option(size, value - 1)
        if not result.complete or result.distinct > AGAIN_MAX:
            yield Lowered(option, None, counted=False)
            continue
        announce(f"exploring {option}")
        # Without a claim: only the number of states is wanted.
        asked = replace(smaller, asked=frozenset())
        local = EngineChoice(name="local", threads=choice.threads)
        done = run(asked, local, budgets=Budgets(max_states=AGAIN_MAX)).result
        yield Lowered(option, done.distinct if done.complete else None, counted=False)
