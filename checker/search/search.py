"""Search loop, breadth first.

A level is checked in full, and every step out of it, before the next is begun, so the first
violation found of a claim is a shortest one. Of several at one depth the least state is kept, so
that which one it is does not depend on the engine or on the number of workers; which is shown is
found out afterwards (`checker.traces.violating_states`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import describe_bytes
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import Arrivals, Engine, Interrupted, ModelFault
from waterline.checker.search.engines.processes import anonymous_bytes, peak_resident_bytes
from waterline.checker.search.result import (
    INTERRUPTED,
    NO_BUDGETS,
    STOPPED_BY_ERROR,
    Budgets,
    InvariantResult,
    LevelSummary,
    ReachableResult,
    Result,
    Verdict,
)
from waterline.model.core.claim import Claim, Recoverable, Temporal


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a run has come, for a display of progress: every level so far has been checked.

    `generated` transitions lead out of all levels but the last. `seconds` of this process: what a
    resumed run took before is not in it. `violated` are the claims that a state so far breaks.
    """

    levels: tuple[LevelSummary, ...]
    distinct: int
    generated: int
    seconds: float
    violated: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """The depth of the last level."""
        return self.levels[-1].depth

    @property
    def frontier(self) -> int:
        """How many states the last level has."""
        return self.levels[-1].states

    @property
    def on(self) -> str:
        """Who explored it."""
        return self.levels[-1].on


class SearchFault(ModelFault):
    """A rule faulted; `result` is what was found out before, and `depth` that of the states."""

    def __init__(self, fault: ModelFault, depth: int, result: Result) -> None:
        super().__init__(fault.words, fault.states)
        self.depth = depth
        self.result = result


def search(
    problem: Problem,
    engine: Engine,
    *,
    budgets: Budgets = NO_BUDGETS,
    watch: Callable[[Snapshot], None] = lambda snapshot: None,
    account: Account | None = None,
    commit: Callable[[Arrivals, Account], None] = lambda level, account: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Result:
    """Explore every reachable state, shallowest first, and say what holds.

    With an `account` of levels that `engine` has been restored to, judge these again and go on from
    there; raises `Damaged` where the account is not theirs. `commit` receives every level once it
    is checked. Raises `SearchFault` where a rule or a claim faults; never swallows one.
    `KeyboardInterrupt` ends the run as INCOMPLETE with what was covered; so does `interrupted`,
    once it says so, after the level or where the engine cuts it short.
    """
    started = time.monotonic()
    account = account or Account(problem)
    before = account.seconds
    stopped_by: str | None = None
    is_resumed = bool(account.levels)
    arrived = started
    try:
        if is_resumed:
            _judge_again(problem, engine, account, budgets, started, interrupted)
        while True:
            depth = len(account.levels) - is_resumed
            if not is_resumed:
                level = engine.absorb()
                if level.new == 0:
                    break
                now = time.monotonic()
                account.arrive(level, now - arrived)
                account.seconds = before + now - started
                arrived = now
                commit(level, account)
            is_resumed = False
            last = account.levels[-1]
            watch(
                Snapshot(
                    tuple(account.levels),
                    account.distinct,
                    account.generated,
                    time.monotonic() - started,
                    tuple(account.broken),
                )
            )
            stopped_by = _over_budget(budgets, account, time.monotonic() - started, engine.can_shed)
            if interrupted():
                stopped_by = INTERRUPTED
            if stopped_by:
                break
            account.leave(engine.expand(account.happened), last.depth)
    except KeyboardInterrupt:
        stopped_by = INTERRUPTED
    except ModelFault as fault:
        account.seconds = before + time.monotonic() - started
        result = _conclude(account, engine.name, STOPPED_BY_ERROR)
        raise SearchFault(fault, depth, result) from None
    except Interrupted:
        stopped_by = INTERRUPTED if interrupted() else f"max-time {budgets.max_seconds:g} s"
    account.seconds = before + time.monotonic() - started
    return _conclude(account, engine.name, stopped_by)


def _judge_again(
    problem: Problem,
    engine: Engine,
    account: Account,
    budgets: Budgets,
    started: float,
    interrupted: Callable[[], bool],
) -> None:
    """Judge the kept levels again, to confirm the account, within the time there is."""
    # Most runs are not resumed.
    from waterline.checker.search.judging_again import judge_again  # noqa: PLC0415

    until = started + (budgets.max_seconds or math.inf)
    judge_again(problem, engine, account, lambda: interrupted() or time.monotonic() >= until)


def _over_budget(budgets: Budgets, account: Account, seconds: float, can_shed: bool) -> str | None:
    """Return the budget that stops the run after this level, if any."""
    if account.broken and (budgets.stop_at_first or budgets.enough & account.broken.keys()):
        return "stop-at-first"
    if budgets.max_depth is not None and account.levels[-1].depth >= budgets.max_depth:
        return f"max-depth {budgets.max_depth}"
    if budgets.max_states is not None and account.distinct >= budgets.max_states:
        return f"max-states {budgets.max_states}"
    if budgets.max_seconds is not None and seconds >= budgets.max_seconds:
        return f"max-time {budgets.max_seconds:g} s"
    limit = budgets.memory_bytes
    if limit is not None and not can_shed and anonymous_bytes() > limit:
        return f"memory {describe_bytes(limit)}"
    return None


def _inexact(account: Account) -> str:
    """Why the run's abstraction was not exact, if so: then nothing that holds in it has a verdict.

    What is violated is: its trace is replayed without the abstraction.
    """
    problem, model = account.problem, account.problem.model
    for claim in problem.claims:
        if claim.about_abstraction and claim.name in account.broken:
            return f"it rests on {claim.name}, which is violated"
    cut = dict(zip(model.limits, account.cut.sum(axis=0), strict=True))
    for name in model.exact_without:
        if cut[name]:
            return f"{cut[name]:,} steps beyond the highest of {name} were cut"
    return ""


def _verdict(claim: Claim, account: Account, inexact: str, *, is_complete: bool) -> InvariantResult:
    is_checked = account.problem.is_checked(claim)
    if isinstance(claim, Recoverable | Temporal) and is_checked:
        # Judged of the whole graph, by the caller of this search.
        return InvariantResult(claim.name, Verdict.INCOMPLETE)
    if claim.name in account.broken:
        depth, words = account.broken[claim.name]
        return InvariantResult(claim.name, Verdict.VIOLATED, depth, words)
    if not is_checked:
        return InvariantResult(claim.name, Verdict.NOT_APPLICABLE)
    if not is_complete:
        return InvariantResult(claim.name, Verdict.INCOMPLETE)
    return exactly(InvariantResult(claim.name, Verdict.HOLDS), inexact)


def exactly(found: InvariantResult, inexact: str) -> InvariantResult:
    """The verdict, withdrawn where it holds in an abstraction that was not exact."""
    if not inexact or found.verdict is not Verdict.HOLDS:
        return found
    return replace(found, verdict=Verdict.INCOMPLETE, why=inexact)


def _conclude(account: Account, engine: str, stopped_by: str | None) -> Result:
    problem, model = account.problem, account.problem.model
    is_complete, inexact = stopped_by is None, _inexact(account)
    return Result(
        problem=problem,
        engine=engine,
        complete=is_complete,
        stopped_by=stopped_by,
        invariants=[
            _verdict(claim, account, inexact, is_complete=is_complete)
            for claim in problem.claims
            if problem.is_asked(claim)
        ],
        reachable=[
            ReachableResult(claim.name, account.happened_at.get(number))
            for number, claim in enumerate(problem.reachable)
            if claim.applies(model.settings)
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
        seconds=account.seconds,
        peak_rss=peak_resident_bytes(),
        inexact=inexact,
    )
