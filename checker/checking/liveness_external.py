"""Verdicts on liveness and recovery, out of core: tasks over files, in threads or on Spark.

What the tasks pass on is little (`checker.liveness.external`): of recovery the nearest of the
states without a way back; of liveness what is left once all is taken away that no fair behaviour
stays in. That is judged here, as a graph by itself, by what judges a whole one. To it are added, if
a claim is violated, the states on the way to where the lasso's cycle begins. Their numbers are in
the order of all, as they are those of their words in order, and of each of them the steps are those
that it has in the whole graph. So where the whole one has the least step of some, this one has it,
too: it is the same lasso.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from waterline.checker.graph.adjacency import NOT_REACHED, Numbers, Places
from waterline.checker.graph.index import Index
from waterline.checker.liveness.external import recovery, waiting
from waterline.checker.liveness.external.graph import PartedGraph, part_graph
from waterline.checker.liveness.external.owcty import Brought, bring, bring_these, left_of
from waterline.checker.liveness.external.recovery import Back, Outcome, WaysBack, trapped_in
from waterline.checker.liveness.external.waiting import Arrival, Wait, arrivals, way_to
from waterline.checker.liveness.fairness import FairSteps, Staying, staying
from waterline.checker.liveness.lasso import end_of, lasso_to
from waterline.checker.liveness.space import Gathered, space_of
from waterline.checker.search.fault_count import counters, faults_in_rows
from waterline.checker.search.result import InvariantResult, Verdict
from waterline.checker.traces.violating_states import ENDS_MAX, Breaking
from waterline.counterexamples import Trapped
from waterline.model.core.claim import (
    Recoverable,
    Temporal,
    fair_actions,
    strongly_fair_actions,
    ways_back,
)

BROUGHT_BYTES = 64
"""Memory for a state that was brought: number, depth, distance, place in the lookup."""

if TYPE_CHECKING:
    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.over_files import FileEngine


def judged_in_parts(
    problem: Problem,
    engine: FileEngine,
    room: Room,
    *,
    fits: Callable[[int], bool],
    announce: Callable[[str], None],
) -> Iterator[Judgement]:
    """Yield verdicts and counterexamples, in the order of the claims.

    States are removed until so few are left that they `fit`, or no more can be. A claim with too
    many left then is INCOMPLETE, and says so. Raises `ModelFault`.
    """
    levels = [engine.levels[level.depth] for level in room.result.levels]
    steps = room.result.generated
    with part_graph(problem, engine, steps=steps, levels=levels, announce=announce) as graph:
        judge = _Judge(problem, engine, graph, room, fits)
        for number, claim in enumerate(problem.applicable_behaviours):
            if isinstance(claim, Recoverable):
                yield judge.recovery(claim, number)
            else:
                try:
                    yield judge.liveness(claim, number)
                except TooLarge as too_large:
                    why = f"of what is left {too_large}"
                    yield InvariantResult(claim.name, Verdict.INCOMPLETE, why=why), None


class _Judge:
    """Judges claims about one graph, some of them at once where that saves rounds."""

    def __init__(
        self,
        problem: Problem,
        engine: FileEngine,
        graph: PartedGraph,
        room: Room,
        fits: Callable[[int], bool],
    ) -> None:
        self.problem, self.engine, self.graph, self.room = problem, engine, graph, room
        self._fits = fits
        model = problem.model
        self._actions = {action.name: number for number, action in enumerate(model.actions)}
        self._fair = self._numbers_of(fair_actions(model.enabled_actions))
        self._strongly = self._numbers_of(strongly_fair_actions(model.enabled_actions))
        self._faults = partial(faults_in_rows, model)
        self._recovery: Mapping[int, tuple[WaysBack, int, Outcome]] = {}
        self._arrivals: Mapping[int, Arrival] = {}

    def recovery(self, claim: Recoverable, number: int) -> Judgement:
        if not self._recovery:
            self._recovery = self._all_recovery()
        ways, place, outcome = self._recovery[number]
        if outcome.depth is None:
            return verdict_holds(claim, outcome.unjudged)
        nearest = ways.nearest(place, outcome.depth, faults=self._faults, most=ENDS_MAX)
        model = self.problem.model
        counts = nearest.faults if counters(model) else None
        breaking = Breaking(outcome.depth, nearest.ends, nearest.states, counts)

        def count_trapped(words: StateWords) -> Trapped:
            by = self._numbers_of(ways_back(claim, model.enabled_actions))
            states, enabled = trapped_in(self.graph, words, by, len(model.actions))
            return Trapped(states, frozenset(model.actions[number].name for number in enabled))

        return stuck_judged(
            self.problem, self.engine, claim, breaking, count_trapped, outcome.unjudged
        )

    def liveness(self, claim: Temporal, number: int) -> Judgement:
        if not self._arrivals:
            self._arrivals = self._all_arrivals()
        graph, arrival, fair = self.graph, self._arrivals[number], self._fair
        left = left_of(graph, arrival, fair, self._faults, self._fits, self._strongly)
        if left.states:
            self.room.require(left.states, beside=BROUGHT_BYTES)
        brought = bring(graph, arrival, fair, left)
        found = _Found(self.problem, brought)
        stays = found.stays
        unjudged = stays.unjudged + sum(each.cut_short for each in brought)
        end = end_of(found.arrived, stays, partial(fault_counts, self.problem.model, found.space))
        if end is None:
            return verdict_holds(claim, unjudged)
        last, far = int(found.numbers[end]), int(found.arrived[end])
        way = np.array(way_to(graph, arrival, last, far), np.int64)
        way = way[~np.isin(way, found.numbers)]
        if len(way):
            del found, stays  # There is room for one.
            found = _Found(self.problem, [*brought, *bring_these(graph, arrival, fair, way)])
            end, stays = int(np.flatnonzero(found.numbers == last)[0]), found.stays
        lasso = lasso_to(end, found.space, found.fair, found.arrived, stays)
        return lasso_judged(self.problem, self.engine, claim, found.space, lasso, unjudged)

    def _all_recovery(self) -> dict[int, tuple[WaysBack, int, Outcome]]:
        model = self.problem.model
        claims = {
            number: Back(
                2 * number,
                2 * number + 1,
                self._numbers_of(ways_back(claim, model.enabled_actions)),
            )
            for number, claim in enumerate(self.problem.applicable_behaviours)
            if isinstance(claim, Recoverable)
        }
        found = {}
        for numbers in _some([*claims], recovery.CLAIMS_AT_ONCE):
            ways = WaysBack(self.graph, [claims[n] for n in numbers], len(model.actions))
            for place, (number, outcome) in enumerate(zip(numbers, ways.outcomes(), strict=True)):
                found[number] = ways, place, outcome
        return found

    def _all_arrivals(self) -> dict[int, Arrival]:
        waits = {
            number: Wait(2 * number, 2 * number + 1, claim.pattern)
            for number, claim in enumerate(self.problem.applicable_behaviours)
            if isinstance(claim, Temporal)
        }
        found: dict[int, Arrival] = {}
        for numbers in _some([*waits], waiting.CLAIMS_AT_ONCE):
            some = arrivals(self.graph, [waits[number] for number in numbers])
            found |= dict(zip(numbers, some, strict=True))
        return found

    def _numbers_of(self, names: Sequence[str]) -> frozenset[int]:
        return frozenset(self._actions[name] for name in names)


class _Found:
    """States that were brought, as a graph; whatever else there is, is elsewhere."""

    def __init__(self, problem: Problem, brought: Sequence[Brought]) -> None:
        self.space = space_of(problem, [_gather(each) for each in brought], whole=False)
        index = Index(np.ascontiguousarray(self.space.rows))
        numbers = np.concatenate([each.numbers for each in brought])
        places = np.concatenate([index.numbers_of(each.rows) for each in brought])
        self.numbers: Places = np.empty(len(places), np.int64)
        self.numbers[places] = numbers
        """The number of each state in the parts."""
        arrived: Numbers = np.full(len(self.space), NOT_REACHED, np.int32)
        arrived[places] = np.concatenate([each.far for each in brought])
        self.arrived = arrived
        self.fair = FairSteps(self.space, problem.model)
        self.stays: Staying = staying(self.space, self.fair, arrived != NOT_REACHED)


def _gather(brought: Brought) -> tuple[Places, Gathered]:
    return brought.depth, Gathered(
        brought.rows,
        brought.truths,
        brought.cut_row.astype(np.int32),
        brought.cut_step.astype(np.int32),
    )


def _some(numbers: list[int], most: int) -> Iterator[list[int]]:
    """A few at a time."""
    for first in range(0, len(numbers), most):
        yield numbers[first : first + most]
