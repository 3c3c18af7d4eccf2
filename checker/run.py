"""One run from a problem to a result with confirmed counterexamples: what every command does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from checker.account import Account
from checker.compiled.prepare import prepare
from checker.engine import Arrivals, Engine, ModelFault
from checker.engines.choice import EngineChoice, engine_for
from checker.faults import explain_fault
from checker.identity import account_of
from checker.paths import shortest_paths
from checker.problem import Problem
from checker.result import Result
from checker.search import NO_BUDGETS, Budgets, Snapshot, search
from checker.store.run_directory import RunDirectory
from counterexamples import Replayed, confirm, trace_of

_LONG_SECONDS = 5.0
"""A search so long has levels that take a while to be gone through once more."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant: the shortest trace there, replayed, and what is wrong at its end."""

    invariant: str
    replayed: Replayed
    explanation: str


@dataclass(frozen=True, slots=True)
class Run:
    """A result and its counterexamples, in the order of the invariants."""

    result: Result
    findings: tuple[Finding, ...]
    prepare_seconds: float


def run(
    problem: Problem,
    choice: EngineChoice,
    *,
    budgets: Budgets = NO_BUDGETS,
    directory: RunDirectory | None = None,
    watch: Callable[[Snapshot], None] = lambda snapshot: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Run:
    """Search, then find, replay and confirm a shortest trace for every violated invariant.

    With a `directory` every level is kept there; levels that are there already are not explored
    again. Raises `Raised` when an action or invariant raises, and `TraceError` when a trace does
    not replay: either is an outcome of its own.
    """
    seconds = prepare(problem, announce=announce)
    ends = time.monotonic() + (budgets.max_seconds or math.inf)
    engine = engine_for(
        problem,
        choice,
        memory_bytes=budgets.memory_bytes,
        directory=directory,
        announce=announce,
        deadline=lambda: time.monotonic() > ends,
    )
    with closing(engine):
        try:
            account = None
            if directory is not None and directory.manifest.levels:
                account = account_of(problem, directory.manifest)
                engine.restore(directory.manifest.levels)
            result = search(
                problem,
                engine,
                budgets=budgets,
                watch=watch,
                account=account,
                commit=_committing(directory),
            )
        except ModelFault as fault:
            raise explain_fault(problem, fault) from None
        if result.violated and result.seconds > _LONG_SECONDS:
            announce("finding the shortest traces")
        findings = counterexamples_of(problem, engine, result)
        if directory is not None and result.complete:
            directory.finish()
    return Run(result, findings, seconds)


def _committing(directory: RunDirectory | None) -> Callable[[Arrivals, Account], None]:
    """What keeps a level, if anything does."""
    if directory is None:
        return lambda level, account: None

    def commit(level: Arrivals, account: Account) -> None:
        assert level.files is not None
        directory.commit(level.files, account.as_values())

    return commit


def counterexamples_of(problem: Problem, engine: Engine, result: Result) -> tuple[Finding, ...]:
    """A confirmed trace for each violated invariant."""
    targets = {
        found.name: (found.depth, found.words)
        for found in result.violated
        if found.depth is not None and found.words is not None
    }
    paths = shortest_paths(problem, engine, targets)
    settings = problem.model.settings
    findings = []
    for invariant in problem.invariants:
        if invariant.name not in paths:
            continue
        path = paths[invariant.name]
        trace = trace_of(problem.model, invariant.name, path.calls, initial=path.initial)
        replayed = confirm(trace, problem.model, _with_settings(invariant.holds, settings))
        explanation = invariant.explain(replayed.states[-1], settings)
        findings.append(Finding(invariant.name, replayed, explanation))
    return tuple(findings)


def _with_settings(holds: Callable[..., bool], settings: Any) -> Callable[[Any], bool]:
    return lambda state: bool(holds(state, settings))
