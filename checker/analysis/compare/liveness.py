"""Search for continuations in the other version of a liveness counterexample.

`checker.analysis.explain.liveness` makes the graph of all that can follow, and judges it as a run
is judged. What is shown of it, a way or what repeats, is gone through once more in the interpreted
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from checker.analysis.compare.aligning import Pair
from checker.analysis.compare.continuation import Following, Outcome
from checker.analysis.compare.cycle import Round, gone_round
from checker.analysis.explain.allowance import Allowance
from checker.analysis.explain.chain import own_actions
from checker.analysis.explain.executions import Event
from checker.analysis.explain.liveness import LastingSearch, recovery_in, staying_in
from checker.checking.liveness_findings import fault_counts
from checker.compiler.origins import call_of
from checker.liveness.adjacency import Mask, mask_of
from checker.liveness.fairness import IN_NONE, FairSteps
from checker.liveness.lasso import lasso_in
from checker.liveness.shortest_ways import ShortestWays
from checker.liveness.space import Space
from checker.problem.family import words_of
from checker.problem.problem import Problem
from checker.search.rule_errors import Disagreement
from checker.traces.finding import confirmed, describe_trapped
from counterexamples import Call, Moment, Trapped, trace_of
from model.core.claim import Behaviour, Pattern, Recoverable, Temporal, fair_actions, ways_back
from model.core.state import State
from model.core.transition_system import Model


def what_follows(
    problem: Problem,
    claim: Behaviour,
    initial: State,
    pairs: Sequence[Pair],
    repeats_after: int,
    allowance: Allowance,
) -> Following:
    """What comes of a claim in `problem`, the other version, which asks it and nothing else.

    `initial` is its initial state; the pairs after `repeats_after` are those that repeat in the
    trace. What is compiled must be ready (`checker.search.engines.prepare`). Raises what an action
    or the claim raises, and `Disagreement` or `NotACounterexample` where what was found is not so.
    """
    looked = _Looked(problem, initial, pairs, allowance)
    if isinstance(claim, Recoverable):
        return looked.back(claim)
    return looked.on(claim, repeats_after)


class _Looked:
    """The other version, looked at from where its steps end."""

    def __init__(
        self, problem: Problem, initial: State, pairs: Sequence[Pair], allowance: Allowance
    ) -> None:
        self._problem, self._pairs, self._allowance = problem, pairs, allowance
        self._model = problem.model
        self._initial = initial
        self._taken = [pair.theirs for pair in pairs if pair.theirs is not None]
        self._end = self._taken[-1].after if self._taken else initial

    def back(self, claim: Recoverable) -> Following:
        """Whether there is a way back."""
        model = self._model
        if not claim.when(self._end, model.settings):
            return Following(outcome=Outcome.NOT_CLAIMED)
        by = ways_back(claim, model.enabled_actions)
        search = LastingSearch(self._problem, claim, by)
        space, states = search.space(self._end.words, (), self._allowance)
        if space is None:
            return Following(outcome=Outcome.UNDECIDED, states=states)
        ways, recovery = recovery_in(space, model, claim)
        _, good = space.truths
        nearest = ShortestWays(space, ways.taken, good)
        if nearest.reaches(0):
            way = self._walked(_calls(model, space, nearest.way(0)))
            self._require(claim.good, way)
            return Following(outcome=Outcome.COMES, states=states, way=way)
        if not np.any(recovery.stuck == 0):
            is_cut = int(np.count_nonzero(ways.cut))
            return Following(outcome=Outcome.OPEN, states=states, open_states=is_cut)
        self._require_broken(claim, self._taken, None)
        enabled = {model.actions[number].name for number in ways.enabled_in(ways.trapped(0))}
        text = describe_trapped(Trapped(states, frozenset(enabled)), by)
        text = f"{claim.explain(self._end, model.settings)} {text}"
        return Following(outcome=Outcome.STAYS, states=states, explanation=text)

    def on(self, claim: Temporal, repeats_after: int) -> Following:
        """Whether it can go on for ever without what is promised."""
        model = self._model
        came_at, is_waiting = self._promised(claim, [pair.right for pair in self._pairs])
        fair = fair_actions(model.enabled_actions)
        words = words_of(self._problem)
        around = gone_round(self._initial, self._pairs, repeats_after, model, words, fair)
        known = Following(
            outcome=Outcome.COMES, is_waiting=is_waiting, came_at=came_at, round=around
        )
        if around.is_fair and self._breaks(claim, around):
            self._require_broken(claim, around.moments, around.begins)
            state = around.moments[around.begins - 1].after if around.begins else self._initial
            text = claim.explain(state, model.settings)
            return replace(known, outcome=Outcome.STAYS, explanation=text)
        if claim.pattern is Pattern.EVENTUALLY and not is_waiting:
            return known
        own = own_actions(self._problem, claim)
        events = tuple(self._again(repeats_after, own))
        search = LastingSearch(self._problem, claim, own)
        space, states = search.space(self._end.words, events, self._allowance)
        if space is None:
            return replace(known, outcome=Outcome.UNDECIDED, states=states)
        return self._judged(claim, space, replace(known, states=states))

    def _judged(self, claim: Temporal, space: Space, known: Following) -> Following:
        """What all that can follow comes to."""
        model = self._model
        is_waiting = known.is_waiting
        fair, waits, stays = staying_in(space, model, claim, is_waiting=is_waiting)
        lasso = lasso_in(space, fair, waits, stays, partial(fault_counts, model, space))
        if lasso is not None:
            everything: Mask = np.ones(len(space.source), np.bool_)
            begins = mask_of(np.array([lasso.begins]), len(space))
            to_there = ShortestWays(space, everything, begins).way(0)
            edges = (*to_there, *lasso.way, *lasso.cycle)
            way = self._walked(_calls(model, space, edges))
            repeats_after = len(edges) - len(lasso.cycle)
            self._require_broken(claim, (*self._taken, *way), len(self._taken) + repeats_after)
            state = way[repeats_after - 1].after if repeats_after else self._end
            return replace(
                known,
                outcome=Outcome.STAYS,
                way=way,
                repeats_after=repeats_after,
                explanation=claim.explain(state, model.settings),
            )
        outcome = Outcome.OPEN if stays.unjudged else Outcome.COMES
        way = self._way_to_it(claim, space, fair, known) if is_waiting else ()
        return replace(known, outcome=outcome, open_states=stays.unjudged, way=way)

    def _way_to_it(
        self, claim: Temporal, space: Space, fair: FairSteps, known: Following
    ) -> tuple[Moment, ...]:
        """A shortest way by fair steps to what is promised, first by one that fairness obliges.

        If every fair behaviour comes to it there is one: where fair steps alone lead nowhere else,
        whoever takes all of them in turn stays for ever.
        """
        _, then = space.truths
        takes: Mask = fair.of_edge != IN_NONE
        nearest = ShortestWays(space, takes, then)
        out = space.forwards.edges_of(np.array([0], np.int32)).tolist()
        asked = set() if known.round is None else _asked(known.round)
        ways: list[tuple[int, ...]] = [
            (edge, *nearest.way(int(space.target[edge])))
            for edge in sorted(out)
            if takes[edge]
            and call_of(self._model, int(space.step[edge])) in asked
            and nearest.reaches(int(space.target[edge]))
        ]
        if not ways and nearest.reaches(0):
            ways = [nearest.way(0)]
        if not ways:
            return ()
        shortest = min(ways, key=len)
        way = self._walked(_calls(self._model, space, shortest))
        self._require(claim.then, way)
        return way

    def _promised(self, claim: Temporal, states: Iterable[State]) -> tuple[int | None, bool]:
        """After which of the states what is promised last had come; whether it still has to come.

        They count from 1; 0 is the initial state, which they follow.
        """
        settings = self._model.settings
        came_at, is_waiting, has_come = None, False, False
        for number, state in enumerate((self._initial, *states)):
            is_asked = claim.pattern is not Pattern.LEADS_TO or claim.when(state, settings)
            is_good = claim.then(state, settings)
            comes = is_good and (is_waiting or is_asked)
            if comes and not has_come:
                came_at = number
            has_come, is_waiting = comes, (is_waiting or is_asked) and not is_good
            if comes and claim.pattern is Pattern.EVENTUALLY:
                return came_at, False
        return came_at, is_waiting

    def _breaks(self, claim: Temporal, around: Round) -> bool:
        """Whether what is promised never comes to the one that goes round so for ever."""
        states = [moment.after for moment in around.moments]
        on_it = (self._initial, *states)[around.begins :]
        _, is_waiting = self._promised(claim, states)
        return is_waiting and not any(claim.then(s, self._model.settings) for s in on_it)

    def _again(self, repeats_after: int, own: Iterable[str]) -> Iterator[Event]:
        """What comes from outside where the trace repeats, on either side, each once."""
        others = set(self._model.contents) - set(own)
        around = self._pairs[repeats_after:]
        moments = [m for pair in around for m in (pair.ours, pair.theirs) if m is not None]
        called = {(m.action, next(iter(m.values), None)): None for m in moments}
        for action, actor in called:
            if action in others:
                yield Event(action, actor, again=True)

    def _walked(self, calls: Iterable[Call]) -> tuple[Moment, ...]:
        """These steps on from the end, each as the interpreted model takes it."""
        model = self._model
        actions = {action.name: action for action in model.actions}
        moments: list[Moment] = []
        state = self._end
        for number, (name, values) in enumerate(calls, start=len(self._taken) + 1):
            action = actions[name]
            named = tuple((p.name, v) for p, v in zip(action.parameters, values, strict=True))
            if not model.is_enabled(state, action, values):
                text = f"{name}{values} is enabled in {state}"
                raise Disagreement(f"compiled, {text}; interpreted, it is not")
            after = model.apply(state, action, values)
            moments.append(Moment(number, name, named, state, after))
            state = after
        return tuple(moments)

    def _require(self, predicate: Callable[[Any, Any], bool], way: Sequence[Moment]) -> None:
        """See that a way leads where it is said to lead."""
        last = way[-1].after if way else self._end
        if not predicate(last, self._model.settings):
            raise Disagreement(f"compiled, {last} is what is to come; interpreted, it is not")

    def _require_broken(
        self, claim: Behaviour, moments: Sequence[Moment], cycle: int | None
    ) -> None:
        """See that these steps are a counterexample of the other version."""
        model = self._model
        initial = model.initial.index(self._initial)
        calls = [(moment.action, moment.values) for moment in moments]
        confirmed(trace_of(model, claim.name, calls, initial=initial, cycle=cycle), model, claim)


def _calls(model: Model, space: Space, edges: Iterable[int]) -> list[Call]:
    return [call_of(model, int(space.step[edge])) for edge in edges]


def _asked(around: Round) -> set[Call]:
    """The steps that fairness obliges the one that goes round."""
    return {(each.action, tuple(value for _, value in each.arguments)) for each in around.obliged}
