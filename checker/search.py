"""The search loop, the only one there is: check a level, count it, expand it, until nothing is new.

A level is checked in full before the next is begun, so the first violation found of an invariant is
a shortest one. Of several at one depth the least state is kept, so that which one it is does not
depend on the engine or on the number of workers.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from checker.engine import Arrivals, Engine, Expansion, Interrupted, Words
from checker.problem import Problem
from checker.result import InvariantResult, LevelSummary, ReachableResult, Result, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """When to stop early; each acts at the end of a level. None means no limit.

    `max_states` distinct states, `max_seconds` since the start, `max_depth` transitions: states at
    that depth are checked and not expanded. `stop_at_first`: end after the first level in which an
    invariant is violated.
    """

    max_states: int | None = None
    max_seconds: float | None = None
    max_depth: int | None = None
    memory_bytes: int | None = None
    stop_at_first: bool = False


NO_BUDGETS = Budgets()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a run has come, for whoever shows progress."""

    depth: int
    frontier: int
    distinct: int
    generated: int
    seconds: float
    on: str


class _Account:
    """What the loop adds up."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.levels: list[LevelSummary] = []
        self.broken: dict[int, tuple[int, Words]] = {}
        self.fired = np.zeros(len(problem.model.actions), np.int64)
        self.cut = np.zeros((len(problem.model.actions), len(problem.model.limits)), np.int64)
        self.happened = np.zeros(len(problem.reachable), np.bool_)
        self.happened_at: dict[int, int] = {}
        self.deadlock: tuple[int, Words] | None = None

    def arrive(self, level: Arrivals) -> None:
        self.levels.append(LevelSummary(level.depth, level.new, level.on))
        for number, words in level.broken.items():
            self.broken.setdefault(number, (level.depth, words))

    def leave(self, out: Expansion, depth: int) -> None:
        self.fired += out.fired
        self.cut += out.cut
        for number in np.flatnonzero(out.happened & ~self.happened):
            self.happened_at[int(number)] = depth + 1
        self.happened |= out.happened
        if out.deadlock is not None and self.deadlock is None:
            self.deadlock = (depth, out.deadlock)

    @property
    def distinct(self) -> int:
        return sum(level.states for level in self.levels)

    @property
    def generated(self) -> int:
        return int(self.fired.sum()) + (self.levels[0].states if self.levels else 0)


def search(
    problem: Problem,
    engine: Engine,
    *,
    budgets: Budgets = NO_BUDGETS,
    watch: Callable[[Snapshot], None] = lambda snapshot: None,
) -> Result:
    """Explore every reachable state, shallowest first, and say what holds.

    Raises `ModelFault` or whatever an action raised; never swallows one. `KeyboardInterrupt` ends
    the run as INCOMPLETE with what was covered.
    """
    started = time.monotonic()
    account = _Account(problem)
    stopped_by: str | None = None
    try:
        while True:
            level = engine.absorb()
            if level.new == 0:
                break
            account.arrive(level)
            seconds = time.monotonic() - started
            watch(
                Snapshot(
                    level.depth, level.new, account.distinct, account.generated, seconds, level.on
                )
            )
            stopped_by = _over_budget(budgets, account, level, seconds)
            if stopped_by:
                break
            account.leave(engine.expand(account.happened), level.depth)
    except KeyboardInterrupt:
        stopped_by = "interrupt (Ctrl-C)"
    except Interrupted:
        stopped_by = f"max-time {budgets.max_seconds} s"
    return _conclude(account, engine.name, stopped_by, time.monotonic() - started)


def _over_budget(
    budgets: Budgets, account: _Account, level: Arrivals, seconds: float
) -> str | None:
    """What stops the run after this level, if anything."""
    if budgets.stop_at_first and account.broken:
        return "stop-at-first"
    if budgets.max_depth is not None and level.depth >= budgets.max_depth:
        return f"max-depth {budgets.max_depth}"
    if budgets.max_states is not None and account.distinct >= budgets.max_states:
        return f"max-states {budgets.max_states}"
    if budgets.max_seconds is not None and seconds >= budgets.max_seconds:
        return f"max-time {budgets.max_seconds:g} s"
    if budgets.memory_bytes is not None and resident_bytes() >= budgets.memory_bytes:
        return f"memory {budgets.memory_bytes / 1e9:g} GB"
    return None


def resident_bytes() -> int:
    """The peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _conclude(account: _Account, engine: str, stopped_by: str | None, seconds: float) -> Result:
    problem = account.problem
    model = problem.model
    applicable = problem.applicable
    invariants = []
    for number, invariant in enumerate(problem.invariants):
        if not problem.is_asked(invariant):
            continue
        if number in account.broken:
            depth, words = account.broken[number]
            invariants.append(InvariantResult(invariant.name, Verdict.VIOLATED, depth, words))
        elif invariant not in applicable:
            invariants.append(InvariantResult(invariant.name, Verdict.NOT_APPLICABLE))
        else:
            verdict = Verdict.INCOMPLETE if stopped_by else Verdict.HOLDS
            invariants.append(InvariantResult(invariant.name, verdict))
    return Result(
        problem=problem,
        engine=engine,
        complete=stopped_by is None,
        stopped_by=stopped_by,
        invariants=invariants,
        reachable=[
            ReachableResult(claim.name, account.happened_at.get(number))
            for number, claim in enumerate(problem.reachable)
        ],
        levels=account.levels,
        generated=account.generated,
        fired={
            action.name: int(count)
            for action, count in zip(model.actions, account.fired, strict=True)
            if action.name in model.contents
        },
        cut={
            name: int(count)
            for name, count in list(zip(model.limits, account.cut.sum(axis=0), strict=True))[1:]
        },
        always_cut=[
            action.name
            for action, fired, cut in zip(model.actions, account.fired, account.cut, strict=True)
            if action.name in model.contents and fired == 0 and cut.any()
        ],
        deadlock=account.deadlock,
        seconds=seconds,
        peak_rss=resident_bytes(),
    )
