"""Exploration of catalogue entries: every version of each, each state space once.

One search answers all entries with the same version, bounds and budgets. If it only has to break a
claim, it ends with the level that does so; a claim that must hold is explored to the end. All
spaces of one shape share a kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from waterline.checker.batch.checks import run_batch
from waterline.checker.batch.question import Question
from waterline.checker.checking.run import Run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.problem.problem import Problem, Shared, sharing_by_shape
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.search.result import Budgets, Verdict
from waterline.checker.traces.finding import Finding
from waterline.model.core.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of one version in one scenario. `depth` is that of the violation, if any."""

    scenario: Scenario
    version: str
    verdict: Verdict
    depth: int | None
    states: int
    complete: bool
    seconds: float
    finding: Finding | None

    @property
    def as_described(self) -> bool:
        """True if it fell where it should, or stands where it should."""
        wanted = Verdict.VIOLATED if self.version in self.scenario.falls else Verdict.HOLDS
        return self.verdict is wanted


Announce = Callable[[str], None]


def run_scenarios(
    scenarios: Sequence[Scenario],
    *,
    threads: int = 0,
    announce: Announce = lambda message: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> list[Outcome]:
    """Run them all; outcomes in the order of the scenarios, what falls before what stands.

    Ctrl-C ends it: what was not explored until then has no outcome. Raises as
    `checker.checking.run.run` does. `watch` receives how many spaces are explored, of how many.
    """
    asked = _by_space(scenarios)
    found = run_batch(
        [Question(_problem(space, claims), _budgets(claims)) for space, claims in asked.items()],
        threads=threads,
        shared=shared_by_shape(scenarios),
        announce=announce,
        watch=watch,
    )
    runs = dict(zip(asked, found, strict=False))
    return [
        _outcome(scenario, version, runs[space])
        for scenario, version in _pairs(scenarios)
        if (space := _space(scenario, version)) in runs
    ]


def shared_by_shape(scenarios: Sequence[Scenario] = ()) -> dict[Layout, Shared]:
    """Return the common limits of these entries and of the whole catalogue, by shape of state.

    It always covers the whole catalogue, so that a later run of others finds the same kernels.
    """
    asked = _by_space((*CATALOGUE, *scenarios))
    return sharing_by_shape(_problem(space, claims) for space, claims in asked.items())


def ends_at_the_violation(scenario: Scenario, version: str) -> bool:
    """True if the search ends at this violation: no other question needs the space."""
    return _budgets(_of_catalogue()[_space(scenario, version)]).stop_at_first


@functools.cache
def _of_catalogue() -> dict[ProblemSpec, dict[str, bool]]:
    return _by_space(CATALOGUE)


def _pairs(scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, str]]:
    for scenario in scenarios:
        for version in scenario.versions:
            yield scenario, version


def _space(scenario: Scenario, version: str) -> ProblemSpec:
    """Return the problem of one search: a version in the scenario's environment."""
    return ProblemSpec.of(MESSAGE.model, version, scenario.environment.options())


def _by_space(scenarios: Sequence[Scenario]) -> dict[ProblemSpec, dict[str, bool]]:
    """Return the claims of each space, and whether each is to be violated."""
    asked: dict[ProblemSpec, dict[str, bool]] = {}
    for scenario, version in _pairs(scenarios):
        claims = asked.setdefault(_space(scenario, version), {})
        claims[scenario.claim] = version in scenario.falls
    return asked


def _problem(space: ProblemSpec, claims: Mapping[str, bool]) -> Problem:
    return MESSAGE.make(replace(space, claims=frozenset(claims)))


def _budgets(claims: Mapping[str, bool]) -> Budgets:
    """Several claims may break at different depths, so that only one may end the search."""
    return Budgets(stop_at_first=len(claims) == 1 and all(claims.values()))


def _outcome(scenario: Scenario, version: str, done: Run) -> Outcome:
    found = next(r for r in done.result.invariants if r.name == scenario.claim)
    finding = next((f for f in done.findings if f.invariant == scenario.claim), None)
    return Outcome(
        scenario=scenario,
        version=version,
        verdict=found.verdict,
        depth=found.depth,
        states=done.result.distinct,
        complete=done.result.complete,
        seconds=done.result.seconds,
        finding=finding,
    )
