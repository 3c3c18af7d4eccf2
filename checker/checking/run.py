"""One run: search, verdicts, and a confirmed counterexample for each violated claim.

After an error of a rule no claim holds, and one that was violated before stays so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from waterline.checker.liveness.space import answers_of, asked_of
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import (
    FAULTS_MAX,
    Arrivals,
    Engine,
    EngineChoice,
    ModelFault,
    threads_of,
)
from waterline.checker.search.engines.expander import chunks_of
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.interrupts import Interrupts
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import NO_BUDGETS, STOPPED_BY_ERROR, Budgets, Result, Verdict
from waterline.checker.search.rule_errors import Failure, Raised, explain_fault
from waterline.checker.search.search import SearchFault, Snapshot, exactly, search
from waterline.checker.storage.storage import Damaged
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.finding import Finding, finding_at, raising_at
from waterline.checker.traces.violating_states import Breaking, breaking_states

if TYPE_CHECKING:
    from waterline.checker.search.engines.factory import GrowingEngine
    from waterline.checker.search.engines.over_files import FileEngine
    from waterline.checker.search.profile import Profile
    from waterline.checker.storage.run_directory import RunDirectory
    from waterline.checker.traces.alternatives import Others


_LONG_SECONDS = 5.0
"""A search so long has levels that take a while to be gone through once more."""


@dataclass(frozen=True, slots=True)
class Run:
    """A result and its counterexamples, in the order of the verdicts."""

    result: Result
    findings: tuple[Finding, ...]
    prepare_seconds: float
    others: Mapping[str, Others] = field(default_factory=dict)
    """By claim further counterexamples of other kinds, if requested."""
    profile: Profile | None = None
    error: RuleError | None = None
    """The error of a rule that ended the run, if there is one."""

    @property
    def shown(self) -> tuple[Finding, ...]:
        """Every trace: the counterexamples, then that to the error."""
        return (*self.findings, self.error.finding) if self.error is not None else self.findings

    @property
    def gravest(self) -> Finding | None:
        """The counterexample to show first: of a promised claim, of these of the worst breach."""
        claims = {claim.name: claim for claim in self.result.problem.claims}

        def rank(finding: Finding) -> tuple[bool, float]:
            name = finding.invariant
            breach = getattr(claims[name], "breach", None)
            severity = math.inf if breach is None else breach.severity
            return self.result.contract_of(name) is not None, severity

        return min(self.findings, key=rank, default=None)


class RunRaised(Raised):
    """The error of a rule, with the results of the run so far."""

    def __init__(self, error: RuleError, run: Run) -> None:
        raised = error.raised
        super().__init__(raised.failure, run.result.problem.model, raised.state)
        self.run = run


def run(
    problem: Problem,
    choice: EngineChoice,
    *,
    budgets: Budgets = NO_BUDGETS,
    directory: RunDirectory | None = None,
    another: int = 0,
    profiled: bool = False,
    watch: Callable[[Snapshot], None] = lambda snapshot: None,
    announce: Callable[[str], None] = lambda message: None,
    finished: Callable[[Engine, Result], None] | None = None,
) -> Run:
    """Search, then find, replay and confirm a shortest trace for every violated claim.

    With a `directory` every level is kept there; levels that are there already are not explored
    again. `another` says how many further traces are wanted for each claim. `profiled`: say also
    what made the space as large as it is. `finished` is called while the engine still has all
    states, if the search was complete. Raises `RunRaised` when an action or a claim raises, and
    `TraceError` when a trace does not replay: either is an outcome of its own.
    """
    seconds = prepare(problem, threads=threads_of(choice.threads), announce=announce)
    ends = time.monotonic() + (budgets.max_seconds or math.inf)
    interrupts = Interrupts()
    engine = engine_for(
        problem,
        choice,
        memory_bytes=budgets.memory_bytes,
        directory=directory,
        announce=announce,
        deadline=lambda: interrupts.noticed or time.monotonic() > ends,
    )
    with closing(engine):
        try:
            result = _search(problem, engine, budgets, directory, interrupts, watch)
        except SearchFault as fault:
            raise _run_error(problem, engine, fault.result, fault, seconds) from None
        if result.violated and result.seconds > _LONG_SECONDS:
            announce("finding the shortest traces")
        findings = counterexamples_of(problem, engine, result)
        others = _others(problem, engine, result, findings, another) if another else {}
        if problem.applicable_behaviours:
            try:
                findings += _judge_behaviours(problem, engine, result, budgets, announce)
            except ModelFault:
                raise _run_error(problem, engine, result, None, seconds) from None
            result.invariants = [exactly(each, result.inexact) for each in result.invariants]
        profile = _profile(problem, engine, result, announce) if profiled else None
        if directory is not None and result.complete:
            directory.finish()
        if finished is not None and result.complete:
            finished(engine, result)
    return Run(result, findings, seconds, others, profile)


def _run_error(
    problem: Problem, engine: Engine, result: Result, fault: SearchFault | None, seconds: float
) -> RunRaised:
    """The error that ends a run, with the traces of what was violated before.

    Without a `fault` of the search a claim about behaviours has raised.
    """
    if fault is not None:
        error = rule_error(problem, engine, fault, fault.depth)
    else:
        error = rule_error(problem, engine, *fault_of_behaviours(problem, engine, result))
        withdraw(result)
    findings = counterexamples_of(problem, engine, result)
    return RunRaised(error, Run(result, findings, seconds, error=error))


def _search(
    problem: Problem,
    engine: FileEngine | GrowingEngine,
    budgets: Budgets,
    directory: RunDirectory | None,
    interrupts: Interrupts,
    watch: Callable[[Snapshot], None],
) -> Result:
    """The search, from the levels on that the directory has. Raises `SearchFault` and `InUse`."""
    try:
        account = None
        if directory is not None and directory.manifest.levels:
            # What reads manifests is for runs that are kept, and most are not.
            from waterline.checker.search.identity import account_of  # noqa: PLC0415

            account = account_of(problem, directory.manifest)
            engine.restore(directory.manifest.levels)
        with interrupts.listen():
            return search(
                problem,
                engine,
                budgets=budgets,
                watch=watch,
                account=account,
                commit=_committing(directory),
                interrupted=lambda: interrupts.noticed,
            )
    except Damaged:
        if directory is not None and not directory.is_ours:
            from waterline.checker.storage.run_directory import InUse  # noqa: PLC0415 - as above

            # Its files were removed by the process that goes on with the run.
            raise InUse(
                f"another run has resumed {directory.storage.location}; this one has ended"
            ) from None
        raise


def _others(
    problem: Problem, engine: Engine, result: Result, findings: Sequence[Finding], wanted: int
) -> dict[str, Others]:
    """Return further counterexamples by claim, as many as are `wanted` of each."""
    # Most runs show one counterexample.
    from waterline.checker.traces.alternatives import others_of  # noqa: PLC0415

    others = {}
    for first in findings:
        assert first.breaking is not None
        others[first.invariant] = others_of(
            problem, engine, first.breaking, first, wanted, result.depth
        )
    return others


def _profile(
    problem: Problem, engine: Engine, result: Result, announce: Callable[[str], None]
) -> Profile | None:
    """The profile; none where Ctrl-C ended it: what the search found out is there all the same."""
    from waterline.checker.search.profile import profile_of  # noqa: PLC0415 - few ask for it

    announce("going through all states for the profile")
    with suppress(KeyboardInterrupt):
        return profile_of(problem, engine, result)
    return None


def _committing(directory: RunDirectory | None) -> Callable[[Arrivals, Account], None]:
    """Return the function that commits a level to the directory, or does nothing without one."""
    if directory is None:
        return lambda level, account: None

    def commit(level: Arrivals, account: Account) -> None:
        assert level.files is not None
        directory.commit(level.files, account.as_values())

    return commit


def _judge_behaviours(
    problem: Problem,
    engine: Engine,
    result: Result,
    budgets: Budgets,
    announce: Callable[[str], None],
) -> tuple[Finding, ...]:
    # Few runs ask for it.
    from waterline.checker.checking.liveness import judge_behaviours  # noqa: PLC0415

    if result.complete:
        announce("judging recovery and liveness")
    return judge_behaviours(problem, engine, result, memory_bytes=budgets.memory_bytes)


def counterexamples_of(problem: Problem, engine: Engine, result: Result) -> tuple[Finding, ...]:
    """A confirmed trace for each violated claim: of the shortest one with the fewest faults."""
    breaking = breaking_states(problem, engine, result)
    paths = paths_to_breaking(problem, engine, breaking)
    return tuple(
        replace(finding_at(problem.model, claim, paths[claim.name]), breaking=breaking[claim.name])
        for claim in problem.judged
        if claim.name in paths
    )


_ERROR = "raises"


@dataclass(frozen=True, slots=True)
class RuleError:
    """The error of a rule, with its place and arguments, and a shortest trace there."""

    raised: Raised
    depth: int
    finding: Finding

    @property
    def failure(self) -> Failure:
        """The action or the claim, and its error."""
        return self.raised.failure


def rule_error(problem: Problem, engine: Engine, fault: ModelFault, depth: int) -> RuleError:
    """The error of a fault in states of this depth; `engine` has absorbed the levels before it.

    Raises `Disagreement`.
    """
    at = Breaking(depth, fault.states, len(fault.states), None)
    path = paths_to_breaking(problem, engine, {_ERROR: at})[_ERROR]
    found = raising_at(problem, path.initial, path.calls)
    if found is None:
        raise _explain_fault(problem, fault)
    finding, raised = found
    return RuleError(raised, depth, finding)


def _explain_fault(problem: Problem, fault: ModelFault) -> Raised:
    found = explain_fault(problem, fault)
    if not isinstance(found, Raised):
        raise found
    return found


def withdraw(result: Result) -> None:
    """Withdraw every "holds": a rule raised, so the state space is incomplete."""
    result.complete, result.stopped_by = False, STOPPED_BY_ERROR
    result.invariants = [
        replace(each, verdict=Verdict.INCOMPLETE) if each.verdict is Verdict.HOLDS else each
        for each in result.invariants
    ]


def fault_of_behaviours(problem: Problem, engine: Engine, result: Result) -> tuple[ModelFault, int]:
    """Return the least states at the least depth where a claim about behaviours faults.

    Returns the depth too. Such a claim must have faulted.
    """
    for level in result.levels:
        found = [
            state for part in engine.over_level(level.depth, _Faulting(problem)) for state in part
        ]
        if found:
            return ModelFault.among(found), level.depth
    raise AssertionError("no claim about behaviours faults in any level")


@dataclass(frozen=True, slots=True)
class _Faulting:
    """Finder of the least states of a block where such a claim faults; picklable."""

    problem: Problem

    def __call__(self, block: Rows) -> list[StateWords]:
        asked, found = asked_of(self.problem), list[StateWords]()
        if all(answers_of(self.problem, asked, chunk).fault is None for chunk in chunks_of(block)):
            return found
        for row in block[np.lexsort(block.T[::-1])]:
            alone = np.ascontiguousarray(row.reshape(1, -1))
            if answers_of(self.problem, asked, alone).fault is not None:
                found.append(state_words(row))
                if len(found) == FAULTS_MAX:
                    break
        return found
