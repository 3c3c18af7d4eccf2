"""Repairs of a violation: explores each candidate change in full.

A change repairs a claim if with it the claim holds in every reachable state within the same bounds.
Each change is explored under a budget; a change that exceeds it is reported as not decided. A claim
that holds only vacuously (its event never happens any more) is reported as such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from waterline.checker.analysis.explain.candidates import Candidate, Nonsense, candidates
from waterline.checker.batch.checks import run_batch
from waterline.checker.batch.question import Question
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Budgets, Result, Verdict

STATES_MAX = 3_000_000
"""How many states a change is explored to."""
SECONDS_MAX = 120.0
"""How long all changes together may take, compiling aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A change that was explored. `verdict` is that of the claim, `depth` of its violation.

    `states` are all there are if the run is `complete`; `unjudged` are those left open by a claim
    about behaviours, because a bound cuts steps that might help. `never` names expectations that
    the change alone makes unreachable.
    """

    candidate: Candidate
    verdict: Verdict
    depth: int | None
    states: int
    complete: bool
    unjudged: int = 0
    never: tuple[str, ...] = ()

    @property
    def repairs(self) -> bool:
        """True if the claim holds with it."""
        return self.verdict is Verdict.HOLDS and self.complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """All that was tried for one claim, in the order of the tables. `nonsense` was not.

    `unexplored` were left when the time was up.
    """

    problem: Problem
    claim: str
    tried: tuple[Tried, ...]
    nonsense: tuple[Nonsense, ...]
    unexplored: tuple[Candidate, ...]

    @property
    def found(self) -> tuple[Tried, ...]:
        """Changes that repair it."""
        return tuple(tried for tried in self.tried if tried.repairs)

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """Undecided changes: a budget ended their run, or the time was up."""
        ended = (t.candidate for t in self.tried if t.verdict is Verdict.INCOMPLETE)
        return (*ended, *self.unexplored)


def repairs_of(
    problem: Problem,
    *,
    threads: int = 0,
    states_max: int = STATES_MAX,
    seconds_max: float = SECONDS_MAX,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Repairs, ...]:
    """Return the repairs of each claim of `problem`; each change is explored once for all claims.

    Raises as `checker.checking.run.run` does. Ctrl-C leaves the rest unexplored. `watch` receives
    how many changes are explored, of how many.
    """
    changes, nonsense = candidates(problem)
    asked = problem.asked_names
    # The first one is explored whole, whatever breaks in it: what happens in it is asked of it.
    whole = Budgets(max_states=states_max)
    first = replace(whole, stop_at_first=len(asked) == 1)
    runs = run_batch(
        [Question(problem, whole), *(Question(_apply(problem, c), first) for c in changes)],
        threads=threads,
        seconds_max=seconds_max,
        announce=announce,
        watch=watch,
    )
    results = [done.result for done in runs]
    happening = _happening(results[0]) if results else frozenset()
    explored = list(zip(changes, results[1:], strict=False))
    return tuple(
        Repairs(
            problem=problem,
            claim=claim,
            tried=tuple(
                _judge_change(claim, change, result, happening) for change, result in explored
            ),
            nonsense=tuple(nonsense),
            unexplored=tuple(changes[len(explored) :]),
        )
        for claim in asked
    )


def _apply(problem: Problem, change: Candidate) -> Problem:
    assert problem.family is not None
    return problem.family.make(change.spec)


def _happening(result: Result) -> frozenset[str]:
    return frozenset(found.name for found in result.reachable if found.depth is not None)


def _judge_change(
    claim: str, change: Candidate, result: Result, happening: frozenset[str]
) -> Tried:
    found = next(found for found in result.invariants if found.name == claim)
    return Tried(
        candidate=change,
        verdict=found.verdict,
        depth=found.depth,
        states=result.distinct,
        complete=result.complete,
        unjudged=found.unjudged,
        never=tuple(sorted(happening - _happening(result))) if result.complete else (),
    )
