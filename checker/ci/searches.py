"""Grouping of expectations: those that differ only in their claims share one search.

Searches of one shape of state share their machine code as well, where they are many: to compile
a small space takes longer than to explore it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from waterline.checker.ci.expectation import Expectation
from waterline.checker.problem.problem import Problem, sharing
from waterline.checker.search.budgets import Budgets
from waterline.checker.search.engines.choice import EngineChoice

_MANY = 3
"""From so many searches of one shape on they are compiled together."""
_CLAIMS_MAX = 60
"""Most claims and actions of problems that share machine code."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One search, and the numbers of the expectations that it answers."""

    problem: Problem
    choice: EngineChoice
    budgets: Budgets
    answers: tuple[int, ...]
    size: int = 0
    """About how many states it has, where an expectation says so."""


def searches_of(expectations: Sequence[Expectation]) -> list[Search]:
    """All that is to be searched, in the order of the expectations."""
    together: dict[Hashable, list[int]] = defaultdict(list)
    for number, each in enumerate(expectations):
        together[_question(each)].append(number)
    return [_search(expectations, numbers) for numbers in together.values()]


def _search(expectations: Sequence[Expectation], numbers: Sequence[int]) -> Search:
    first = expectations[numbers[0]]
    problem = first.problem
    for number in numbers[1:]:
        other = expectations[number].problem
        problem = problem.asking_too(c.name for c in other.claims if other.is_asked(c))
    size = max(expectations[number].counts.get("distinct", 0) for number in numbers)
    return Search(problem, first.choice, first.budgets, tuple(numbers), size)


def _question(each: Expectation) -> Hashable:
    """Return a key that is equal for expectations that one search can answer."""
    problem = each.problem
    question = (problem.spec.space, each.choice, each.budgets)
    # Where the first violation ends the search, it goes by the claims which one that is.
    return (*question, problem.asked) if each.budgets.stop_at_first else question


def compiled_together(searches: Sequence[Search]) -> list[Search]:
    """Return the same searches; those of one shape get their common parts."""
    shapes: dict[Hashable, list[Problem]] = defaultdict(list)
    for search in searches:
        shapes[shape_of(search)].append(search.problem)
    shared = {
        shape: sharing(problems)
        for shape, problems in shapes.items()
        if len(problems) >= _MANY and _can_share(problems)
    }
    return [
        replace(s, problem=replace(s.problem, shared=shared[shape_of(s)]))
        if shape_of(s) in shared
        else s
        for s in searches
    ]


def shape_of(search: Search) -> Hashable:
    """Return a key that is equal for searches that can share machine code."""
    problem = search.problem
    own = (
        problem.model.version
        if problem.family is None or problem.family.is_read_at_run_time
        else None
    )
    return problem.model.name, problem.model.layout, own


def _can_share(problems: Sequence[Problem]) -> bool:
    first = problems[0]
    return max(len(first.model.actions), len(first.claims)) <= _CLAIMS_MAX
