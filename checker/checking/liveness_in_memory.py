"""Verdicts on liveness and recovery after a search, on the graph in memory.

All of them are judged of one graph (`checker.liveness.space`), in this process where it fits the
memory, else in parts (`checker.checking.liveness_external`): the same verdicts and the same
counterexamples. Nothing is judged of a search that was stopped: what it has not seen may lead back,
or go round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from waterline.checker.checking.liveness_findings import (
    Judgement,
    Room,
    TooLarge,
    fault_counts,
    lasso_judged,
    stuck_judged,
    verdict_holds,
)
from waterline.checker.liveness.fairness import FairSteps, staying
from waterline.checker.liveness.lasso import lasso_in, waiting
from waterline.checker.liveness.recovery import Ways
from waterline.checker.liveness.space import Gathered, Gatherer, Space, space_of
from waterline.checker.search.fault_count import counters
from waterline.checker.search.result import INTERRUPTED, Verdict
from waterline.checker.traces.finding import Finding
from waterline.checker.traces.violating_states import ENDS_MAX, Breaking
from waterline.counterexamples import Trapped
from waterline.model.core.claim import Recoverable, Temporal, ways_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waterline.checker.graph.adjacency import Mask, Numbers
    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.engine import Engine
    from waterline.checker.search.result import Result


def judge_behaviours(
    problem: Problem,
    engine: Engine,
    result: Result,
    *,
    memory_bytes: int | None = None,
    in_parts: bool = False,
    announce: Callable[[str], None] = lambda message: None,
) -> tuple[Finding, ...]:
    """Put the verdicts into `result`; returns the counterexamples, in the order of the claims.

    `engine` has absorbed all levels of the result. What does not fit `memory_bytes` is judged in
    parts, and so is all if it is to be `in_parts`: then as much is left to tasks as can be.
    `announce` receives what takes long. What does not fit in this way either, or cannot be judged
    so as the states cannot leave the memory, is left INCOMPLETE, and the result says why. Raises
    `ModelFault` where a claim raises.
    """
    if not problem.applicable_behaviours or not result.complete:
        return ()
    if problem.model.behaviours_refused:
        _report(result, problem, problem.model.behaviours_refused)
        return ()
    findings: list[Finding] = []

    def take(judged: Iterator[Judgement]) -> str:
        """Keep what is judged; why not all could be, if it could not."""
        try:
            for verdict, finding in judged:
                places = [each.name for each in result.invariants]
                result.invariants[places.index(verdict.name)] = verdict
                findings.extend([finding] if finding is not None else [])
        except TooLarge as too_large:
            return str(too_large)
        except KeyboardInterrupt:
            return INTERRUPTED
        return ""

    room = Room(problem, result, memory_bytes)
    # A reason, not an error: with it would go what was gathered before it was too much.
    why = "" if in_parts else take(_judge(problem, engine, room))
    if (in_parts or why not in {"", INTERRUPTED}) and (files := engine.over_files()) is not None:
        # Most graphs fit.
        from waterline.checker.checking.liveness_external import BROUGHT_BYTES, judged_in_parts  # noqa: PLC0415

        if why:
            announce(f"{why.partition(';')[0]}: judged in parts")
        fits = _never if in_parts else partial(room.fits, beside=BROUGHT_BYTES)
        why = take(judged_in_parts(problem, files, room, fits=fits, announce=announce))
    if why:
        _report(result, problem, why)
    return tuple(findings)


def _never(states: int) -> bool:
    return False


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
