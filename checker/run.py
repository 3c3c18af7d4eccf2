"""One run from a problem to a result with confirmed counterexamples: what every command does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from checker.compiled.prepare import prepare
from checker.engine import Engine, ModelFault
from checker.engines.memory import MemoryEngine
from checker.faults import explain_fault
from checker.paths import shortest_paths
from checker.problem import Problem
from checker.result import Result
from checker.search import NO_BUDGETS, Budgets, Snapshot, search
from counterexamples import Replayed, confirm, trace_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Which engine explores, and how. `threads` 0 is one for each core."""

    name: str = "spark"
    threads: int = 0
    master: str = "local[*]"
    partitions: int | None = None
    driver_levels: int | None = None


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


def engine_for(
    problem: Problem,
    choice: EngineChoice,
    *,
    announce: Callable[[str], None] = lambda message: None,
    deadline: Callable[[], bool] | None = None,
) -> Engine:
    """The engine that was asked for. Nothing of Spark is imported for the local one."""
    if choice.name == "local":
        return MemoryEngine(problem, threads=choice.threads, deadline=deadline)
    from checker.engines.spark import SparkEngine  # noqa: PLC0415 - the local engine must not need it

    return SparkEngine(
        problem,
        master=choice.master,
        partitions=choice.partitions,
        driver_levels=choice.driver_levels,
        threads=choice.threads,
        on_wait=announce,
        deadline=deadline,
    )


def run(
    problem: Problem,
    choice: EngineChoice,
    *,
    budgets: Budgets = NO_BUDGETS,
    watch: Callable[[Snapshot], None] = lambda snapshot: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Run:
    """Search, then find, replay and confirm a shortest trace for every violated invariant.

    Raises `Raised` when an action or invariant raises, and `TraceError` when a trace does not
    replay: either is an outcome of its own.
    """
    seconds = prepare(problem, announce=announce)
    ends = time.monotonic() + (budgets.max_seconds or math.inf)

    def is_late() -> bool:
        return time.monotonic() > ends

    with closing(engine_for(problem, choice, announce=announce, deadline=is_late)) as engine:
        try:
            result = search(problem, engine, budgets=budgets, watch=watch)
        except ModelFault as fault:
            raise explain_fault(problem, fault) from None
        findings = counterexamples_of(problem, engine, result)
    return Run(result, findings, seconds)


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
