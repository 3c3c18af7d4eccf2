"""Claims about behaviours, judged once a search has ended: verdicts, and confirmed counterexamples.

All of them are judged of one graph (`checker.behaviours.space`). Nothing is judged of a search that
was stopped: what it has not seen may lead back, or go round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from checker.behaviours.fairness import FairSteps, staying
from checker.behaviours.lasso import Lasso, lasso_in, waiting
from checker.behaviours.recovery import Ways
from checker.behaviours.space import (
    EDGES_MAX,
    Gathered,
    Gatherer,
    Space,
    bytes_needed,
    space_of,
)
from checker.breaking import ENDS_MAX, Breaking
from checker.compiled.origins import call_of
from checker.fault_count import counters, faults_in_rows
from checker.fewest_actors import paths_to_breaking
from checker.finding import Finding, confirmed, finding_at, told_trapped
from checker.memory_use import anonymous_bytes
from checker.problems.wording import counted, roughly
from checker.result import INTERRUPTED, InvariantResult, Verdict
from counterexamples import Trapped, trace_of
from model.kit.claim import (
    Behaviour,
    Recoverable,
    Temporal,
    fair_actions,
    ways_back,
)

if TYPE_CHECKING:
    from checker.behaviours.adjacency import Mask, Numbers
    from checker.engines.engine import Engine
    from checker.problems.problem import Problem
    from checker.result import Result

_Judged = tuple[InvariantResult, Finding | None]


def judge_behaviours(
    problem: Problem, engine: Engine, result: Result, *, memory_bytes: int | None = None
) -> tuple[Finding, ...]:
    """Put the verdicts into `result`; returns the counterexamples, in the order of the claims.

    `engine` has absorbed all levels of the result. Raises `ModelFault` where a claim raises. What
    does not fit `memory_bytes` is left INCOMPLETE, and the result says why.
    """
    if not problem.applicable_behaviours or not result.complete:
        return ()
    findings = []
    try:
        for verdict, finding in _judged(problem, engine, result, memory_bytes):
            places = [each.name for each in result.invariants]
            result.invariants[places.index(verdict.name)] = verdict
            findings += [finding] if finding is not None else []
    except _TooLarge as too_large:
        _tell(result, problem, str(too_large))
    except KeyboardInterrupt:
        _tell(result, problem, INTERRUPTED)
    return tuple(findings)


class _TooLarge(Exception):
    """What is to be judged does not fit the memory; the message says what it would take."""


def _gathered(
    problem: Problem, engine: Engine, result: Result, memory_bytes: int | None
) -> list[tuple[int, Gathered]]:
    """Of every level the states in which something is to come. Raises `_TooLarge`."""
    parts: list[tuple[int, Gathered]] = []
    for level in result.levels:
        found = engine.over_level(level.depth, Gatherer(problem))
        parts += [(level.depth, part) for part in found]
        _require_room(problem, result, parts, memory_bytes)
    return parts


def _require_room(
    problem: Problem,
    result: Result,
    parts: list[tuple[int, Gathered]],
    memory_bytes: int | None,
) -> None:
    """See that the graph of what was gathered can be judged in memory. Raises `_TooLarge`."""
    states = sum(len(part.rows) for _, part in parts)
    # As many as leave any other state, on an average.
    steps = math.ceil(states * result.generated / max(1, result.distinct))
    graph = f"the graph of {counted(states, 'state')} and about {counted(steps, 'step')}"
    if steps > EDGES_MAX:
        raise _TooLarge(
            f"{graph} has more steps than can be numbered, {EDGES_MAX:,}; lower the bounds"
        )
    predicates = 2 * len(problem.applicable_behaviours)
    needed = bytes_needed(states, steps, problem.model.layout.words, predicates)
    if memory_bytes is not None and needed + anonymous_bytes() > memory_bytes:
        raise _TooLarge(
            f"{graph} takes about {roughly(needed)}B more, and --memory is "
            f"{roughly(memory_bytes)}B; raise it or lower the bounds"
        )


def _tell(result: Result, problem: Problem, why: str) -> None:
    """Say of the claims that have not been judged why not."""
    waiting_for = {claim.name for claim in problem.applicable_behaviours}
    result.invariants[:] = [
        replace(each, why=why)
        if each.name in waiting_for and each.verdict is Verdict.INCOMPLETE
        else each
        for each in result.invariants
    ]


def _judged(
    problem: Problem, engine: Engine, result: Result, memory_bytes: int | None
) -> Iterator[_Judged]:
    parts = _gathered(problem, engine, result, memory_bytes)
    judge = _Judge(problem, engine, space_of(problem, parts))
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

    def recovery(self, claim: Recoverable, when: Mask, good: Mask) -> _Judged:
        model, space = self.problem.model, self.space
        by = ways_back(claim, model.enabled_actions)
        ways = Ways(space, model, by)
        found = ways.recovery(good, when)
        if not len(found.stuck):
            return self._holds(claim, found.unjudged), None
        breaking = self._least(found.stuck)
        path = paths_to_breaking(self.problem, self.engine, {claim.name: breaking})[claim.name]
        finding = finding_at(model, claim, path)
        state = self._number_of(finding.replayed.states[-1].words)
        trapped = ways.trapped(state)
        enabled = frozenset(model.actions[number].name for number in ways.enabled_in(trapped))
        told = told_trapped(Trapped(int(np.count_nonzero(trapped)), enabled), by)
        explained = claim.explain(finding.replayed.states[-1], model.settings)
        finding = replace(finding, explanation=f"{explained} {told}", breaking=breaking)
        words = finding.replayed.states[-1].words
        return self._violated(claim, breaking.depth, words, found.unjudged), finding

    def liveness(self, claim: Temporal, when: Mask, then: Mask) -> _Judged:
        model, space = self.problem.model, self.space
        if self._fair is None:
            self._fair = FairSteps(space, model, fair_actions(model.enabled_actions))
        waits = waiting(space, claim.pattern, when, then)
        stays = staying(space, self._fair, waits.inside)
        lasso = lasso_in(space, self._fair, waits, stays, self._faults)
        if lasso is None:
            return self._holds(claim, stays.unjudged), None
        finding = self._lasso_finding(claim, lasso)
        begins = finding.replayed.trace.cycle
        assert begins is not None
        words = finding.replayed.states[begins].words
        return self._violated(claim, begins, words, stays.unjudged), finding

    def _lasso_finding(self, claim: Temporal, lasso: Lasso) -> Finding:
        model, space = self.problem.model, self.space
        depth, words = int(space.depth[lasso.begins]), space.words(lasso.begins)
        begins = Breaking(depth, (words,), 1, None)
        path = paths_to_breaking(self.problem, self.engine, {claim.name: begins})[claim.name]
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
        return confirmed(trace, model, claim)

    def _least(self, stuck: Numbers) -> Breaking:
        """Of some states those that a trace may lead to: the nearest with the fewest faults."""
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
        rows = np.ascontiguousarray(self.space.rows[states])
        return faults_in_rows(self.problem.model, rows).astype(np.int32)

    def _number_of(self, words: Sequence[int]) -> int:
        rows = self.space.rows
        matching = np.ones(len(rows), np.bool_)
        for column, word in enumerate(words):
            matching &= rows[:, column] == np.uint64(word)
        return int(np.flatnonzero(matching)[0])

    def _holds(self, claim: Behaviour, unjudged: int) -> InvariantResult:
        return InvariantResult(claim.name, Verdict.HOLDS, unjudged=unjudged)

    def _violated(
        self, claim: Behaviour, depth: int, words: tuple[int, ...], unjudged: int
    ) -> InvariantResult:
        return InvariantResult(claim.name, Verdict.VIOLATED, depth, words, unjudged)
