"""Verdicts on liveness and recovery after a search, with their counterexamples.

All of them are judged of one graph (`checker.liveness.space`), in this process, if it fits the
memory. Nothing is judged of a search that was stopped: what it has not seen may lead back, or go
round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from waterline.checker.compiler.origins import call_of
from waterline.checker.liveness.fairness import FairSteps, staying
from waterline.checker.liveness.lasso import Ways, lasso_in, waiting
from waterline.checker.liveness.space import (
    EDGES_MAX,
    Gathered,
    Gatherer,
    Space,
    bytes_needed,
    space_of,
)
from waterline.checker.problem.wording import quantity, roughly
from waterline.checker.search.engines.processes import anonymous_bytes
from waterline.checker.search.fault_count import counters, faults_in_rows
from waterline.checker.search.result import INTERRUPTED, InvariantResult, Verdict
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.finding import Finding, confirm_trace, describe_trapped, finding_at
from waterline.checker.traces.violating_states import ENDS_MAX, Breaking
from waterline.counterexamples import Trapped, trace_of
from waterline.model.core.claim import Behaviour, Recoverable, Temporal, ways_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waterline.checker.graph.adjacency import Mask, Numbers
    from waterline.checker.liveness.lasso import Lasso
    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.engine import Engine
    from waterline.checker.search.result import Result
    from waterline.model.core.transition_system import Model


Judgement: TypeAlias = "tuple[InvariantResult, Finding | None]"
"""The verdict about a claim, and the counterexample to one that is violated."""


class TooLarge(Exception):
    """The graph does not fit the memory; the message says how much it would take."""


@dataclass(frozen=True, slots=True)
class Room:
    """Memory of this process for the graph of a result: `memory_bytes`, if that is limited."""

    problem: Problem
    result: Result
    memory_bytes: int | None

    def steps(self, states: int) -> int:
        """About how many steps leave so many states: as many as any other, on an average."""
        return math.ceil(states * self.result.generated / max(1, self.result.distinct))

    def require(self, states: int) -> None:
        """Raise `TooLarge` unless a graph of so many states can be judged in memory."""
        steps = self.steps(states)
        graph = f"the graph of {quantity(states, 'state')} and about {quantity(steps, 'step')}"
        if steps > EDGES_MAX:
            raise TooLarge(
                f"{graph} has more steps than can be numbered, {EDGES_MAX:,}; lower the bounds"
            )
        predicates = 2 * len(self.problem.applicable_behaviours)
        needed = bytes_needed(states, steps, self.problem.model.layout.words, predicates)
        if self.memory_bytes is not None and needed + anonymous_bytes() > self.memory_bytes:
            raise TooLarge(
                f"{graph} takes about {roughly(needed)}B more, and --memory is "
                f"{roughly(self.memory_bytes)}B; raise it or lower the bounds"
            )


def fault_counts(model: Model, space: Space, states: Numbers) -> Numbers:
    """Return the number of faults before each of these states of a space."""
    rows = np.ascontiguousarray(space.rows[states])
    return faults_in_rows(model, rows).astype(np.int32)


def verdict_holds(claim: Behaviour, unjudged: int) -> Judgement:
    """The judgement of a claim that nothing breaks; `unjudged` states a bound leaves open."""
    return InvariantResult(claim.name, Verdict.HOLDS, unjudged=unjudged), None


def stuck_judged(
    problem: Problem,
    engine: Engine,
    claim: Recoverable,
    breaking: Breaking,
    trapped: Callable[[StateWords], Trapped],
    unjudged: int,
) -> Judgement:
    """The judgement of a claim about recovery that the states of `breaking` break.

    `trapped` says how far one gets from a state that has no way back. `unjudged` is of how many
    more states a bound leaves it open. Raises what `checker.traces.finding.confirm_trace` raises.
    """
    model = problem.model
    path = paths_to_breaking(problem, engine, {claim.name: breaking})[claim.name]
    finding = finding_at(model, claim, path)
    last = finding.replayed.states[-1]
    text = describe_trapped(trapped(last.words), ways_back(claim, model.enabled_actions))
    explained = claim.explain(last, model.settings)
    finding = replace(finding, explanation=f"{explained} {text}", breaking=breaking)
    return _violation(claim, breaking.depth, last.words, unjudged), finding


def lasso_judged(
    problem: Problem, engine: Engine, claim: Temporal, space: Space, lasso: Lasso, unjudged: int
) -> Judgement:
    """The judgement of a claim that a behaviour breaks which goes the way of a lasso in this space.

    `unjudged` is of how many more states a bound leaves it open. Raises what
    `checker.traces.finding.confirm_trace` raises.
    """
    model = problem.model
    depth, words = int(space.depth[lasso.begins]), space.words(lasso.begins)
    begins = Breaking(depth, (words,), 1, None)
    path = paths_to_breaking(problem, engine, {claim.name: begins})[claim.name]
    way, cycle = (
        [call_of(model, int(space.step[edge])) for edge in edges]
        for edges in (lasso.way, lasso.cycle)
    )
    trace = trace_of(
        model,
        claim.name,
        (*path.calls, *way, *cycle),
        initial=path.initial,
        cycle=depth + len(way),
    )
    finding = confirm_trace(trace, model, claim)
    repeats = depth + len(way)
    return _violation(claim, repeats, finding.replayed.states[repeats].words, unjudged), finding


def _violation(
    claim: Behaviour, depth: int, words: tuple[int, ...], unjudged: int
) -> InvariantResult:
    return InvariantResult(claim.name, Verdict.VIOLATED, depth, words, unjudged)


def judge_behaviours(
    problem: Problem,
    engine: Engine,
    result: Result,
    *,
    memory_bytes: int | None = None,
) -> tuple[Finding, ...]:
    """Put the verdicts into `result`; returns the counterexamples, in the order of the claims.

    `engine` has absorbed all levels of the result. If the graph does not fit `memory_bytes`, the
    verdicts are INCOMPLETE, and the result says why. Raises `ModelFault` where a claim raises.
    """
    if not problem.applicable_behaviours or not result.complete:
        return ()
    if problem.model.behaviours_refused:
        _report(result, problem, problem.model.behaviours_refused)
        return ()
    findings: list[Finding] = []

    why = ""
    try:
        for verdict, finding in _judge(problem, engine, Room(problem, result, memory_bytes)):
            places = [each.name for each in result.invariants]
            result.invariants[places.index(verdict.name)] = verdict
            findings.extend([finding] if finding is not None else [])
    except TooLarge as too_large:
        why = str(too_large)
    except KeyboardInterrupt:
        why = INTERRUPTED
    if why:
        _report(result, problem, why)
    return tuple(findings)


def _gather(problem: Problem, engine: Engine, room: Room) -> list[tuple[int, Gathered]]:
    """Return every level's states with an event still to come. Raises `TooLarge`."""
    parts: list[tuple[int, Gathered]] = []
    for level in room.result.levels:
        found = engine.over_level(level.depth, Gatherer(problem))
        parts += [(level.depth, part) for part in found]
        room.require(sum(len(part.rows) for _, part in parts))
    return parts


def _report(result: Result, problem: Problem, why: str) -> None:
    """Say of the claims that have not been judged why not."""
    waiting_for = {claim.name for claim in problem.applicable_behaviours}
    result.invariants[:] = [
        replace(each, why=why)
        if each.name in waiting_for and each.verdict is Verdict.INCOMPLETE
        else each
        for each in result.invariants
    ]


def _judge(problem: Problem, engine: Engine, room: Room) -> Iterator[Judgement]:
    judge = _Judge(problem, engine, space_of(problem, _gather(problem, engine, room)))
    for number, claim in enumerate(problem.applicable_behaviours):
        when, other = judge.space.truths[2 * number : 2 * number + 2]
        if isinstance(claim, Recoverable):
            yield judge.recovery(claim, when, other)
        else:
            yield judge.liveness(claim, when, other)


@dataclass
class _Judge:
    """Judges claims about one space, which `engine` has explored."""

    problem: Problem
    engine: Engine
    space: Space
    _fair: FairSteps | None = None

    def recovery(self, claim: Recoverable, when: Mask, good: Mask) -> Judgement:
        model = self.problem.model
        ways = Ways(self.space, model, ways_back(claim, model.enabled_actions))
        found = ways.recovery(good, when)
        if not len(found.stuck):
            return verdict_holds(claim, found.unjudged)

        def count_trapped(words: StateWords) -> Trapped:
            states = ways.trapped_states(self._number_of(words))
            enabled = frozenset(model.actions[number].name for number in ways.enabled_in(states))
            return Trapped(int(np.count_nonzero(states)), enabled)

        breaking = self._least(found.stuck)
        return stuck_judged(
            self.problem, self.engine, claim, breaking, count_trapped, found.unjudged
        )

    def liveness(self, claim: Temporal, when: Mask, then: Mask) -> Judgement:
        model, space = self.problem.model, self.space
        if self._fair is None:
            self._fair = FairSteps(space, model)
        waits = waiting(space, claim.pattern, when, then)
        stays = staying(space, self._fair, waits.inside)
        lasso = lasso_in(space, self._fair, waits, stays, self._faults)
        if lasso is None:
            return verdict_holds(claim, stays.unjudged)
        return lasso_judged(self.problem, self.engine, claim, space, lasso, stays.unjudged)

    def _least(self, stuck: Numbers) -> Breaking:
        """Return the states that a trace may lead to: the nearest with the fewest faults."""
        space, depth = self.space, int(self.space.depth[stuck].min())
        nearest = stuck[space.depth[stuck] == depth]
        faults = self._faults(nearest)
        # States are numbered in the order of their words.
        ends = nearest[faults == faults.min()][:ENDS_MAX]
        return Breaking(
            depth,
            tuple(space.words(int(end)) for end in ends),
            len(nearest),
            int(faults.min()) if counters(self.problem.model) else None,
        )

    def _faults(self, states: Numbers) -> Numbers:
        return fault_counts(self.problem.model, self.space, states)

    def _number_of(self, words: Sequence[int]) -> int:
        rows = self.space.rows
        matching = np.ones(len(rows), np.bool_)
        for column, word in enumerate(words):
            matching &= rows[:, column] == np.uint64(word)
        return int(np.flatnonzero(matching)[0])
