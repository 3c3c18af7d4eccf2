"""Note on rules switched by `--with` and `--without` that change no verdict within the bounds.

The note rests on exploration: the version without the switches is searched as well, where that is
quick.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from waterline.checker.checking.run import run
from waterline.checker.cli.check.bound_advice import spent_budget
from waterline.checker.problem.family import words_of
from waterline.checker.problem.wording import describe_version
from waterline.checker.search.budgets import Budgets
from waterline.checker.search.engines.choice import EngineChoice
from waterline.checker.search.result import Result, Verdict
from waterline.model.message.versions import spell

if TYPE_CHECKING:
    from collections.abc import Callable

_QUICK_SECONDS = 5.0
"""A search so short is made again for the comparison."""


def describe_no_difference(
    result: Result,
    added: tuple[str, ...],
    removed: tuple[str, ...],
    *,
    threads: int,
    announce: Callable[[str], None],
) -> str | None:
    """`No difference within these bounds: ...`; None for one, or where none was looked for."""
    if not result.complete or result.seconds > _QUICK_SECONDS:
        return None
    problem = result.problem
    family, version = problem.family, problem.model.version
    assert family is not None
    usual = version.removesuffix(spell("", added, removed))
    announce(f"comparing with {describe_version(usual)}")
    other = run(
        replace(problem.spec, version=usual).build(lambda model: family),
        EngineChoice(name="local", threads=threads),
        budgets=Budgets(max_seconds=2 * _QUICK_SECONDS),
    ).result
    mine, theirs = _verdicts(result), _verdicts(other)
    shared = mine.keys() & theirs.keys()
    if not other.complete or any(mine[name] != theirs[name] for name in shared):
        return None
    where = "" if mine.keys() == theirs.keys() else " on all claims that apply to both"
    text = (
        f"No difference within these bounds: {describe_version(usual)} has the same verdicts as "
        f"{describe_version(version)}{where}."
    )
    for action in result.always_cut:
        if budget := spent_budget(result, action):
            option = words_of(problem).option(budget, 1)
            text += f" {budget}=0 cuts {action} always: try {option}."
    return text


def _verdicts(result: Result) -> dict[str, tuple[Verdict, int | None]]:
    """The verdicts on the claims that apply to the version."""
    return {
        r.name: (r.verdict, r.depth)
        for r in result.invariants
        if r.verdict is not Verdict.NOT_APPLICABLE
    }
