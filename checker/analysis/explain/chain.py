"""Causal chain of a trace: the steps without which (but for which) no violation follows.

A shortest trace has no step to spare, and most of its steps are ones that the protocol takes by
itself as soon as it can. So a step is a cause only if it is from outside (a record produced, a
fault; `checker.problem.words.Words.outside`) and if without it no course breaks the claim: none of
those that take some of the others in their order, whatever the protocol does in between. A chance
is a step that the protocol might have taken by itself somewhere on the way, after which no course
with what still came from outside breaks the claim: what came instead came first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.analysis.explain.executions import Allowance, Courses, CourseSearch, Event
from waterline.checker.analysis.explain.liveness import LastingSearch, taken_by_itself
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.counterexamples import Moment, Replayed, skipping
from waterline.model.core.claim import ActionProperty, Claim, Invariant, Recoverable, Temporal
from waterline.model.core.state import State
from waterline.model.core.transition_system import Step

STATES_MAX = 300_000
"""Most states to explore for the decision on one step."""
SECONDS_MAX = 60.0
"""How long a whole chain may take."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A step from outside that the violation needs; `undecided` if a budget ended the search.

    `without` are the courses without it. `impossible` are the numbers of the later steps that drop
    out where the trace is replayed without it, step by step; empty once the time is up.
    """

    moment: Moment
    without: Courses
    impossible: tuple[int, ...]

    @property
    def undecided(self) -> bool:
        """True if a budget ended the search for a course without it."""
        return self.without.breaks is None


@dataclass(frozen=True, slots=True)
class Chance:
    """A step that would have prevented it, had it been taken after step `first`, or any step up to
    `last`; 0 is the initial state. `moment` is it after step `last`. Then no course of `states`
    states breaks the claim.
    """

    first: int
    last: int
    moment: Moment
    states: int

    @property
    def call(self) -> str:
        """`Fence(replica=0)`"""
        return str(self.moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Causes and chances in the order of the trace. `spared` are steps from outside that the
    violation does not need. `unlooked` are numbers of steps with chances left unexplored. If the
    origin of steps is unknown, all count as from outside, and `chances` is empty.
    """

    replayed: Replayed
    causes: tuple[Cause, ...]
    spared: tuple[Moment, ...]
    chances: tuple[Chance, ...]
    unlooked: tuple[int, ...]
    knows_outside: bool = True


def chain_of(
    problem: Problem,
    replayed: Replayed,
    *,
    states_max: int = STATES_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Chain:
    """The chain of a counterexample of `problem`, which asks its claim and nothing else.

    What is compiled must be ready (`checker.search.engines.prepare`). Raises what an action or the
    claim raises.
    """
    return _Looked(problem, replayed, states_max, seconds_max).chain()


class _Looked:
    """A trace under examination."""

    def __init__(
        self, problem: Problem, replayed: Replayed, states_max: int, seconds_max: float
    ) -> None:
        self._replayed, self._model = replayed, problem.model
        self._claim = asked_alone(problem)
        self._own = own_actions(problem, self._claim)
        self._search: CourseSearch | LastingSearch
        if isinstance(self._claim, Invariant | ActionProperty):
            self._search = CourseSearch(problem, self._claim, self._own)
        else:
            self._search = LastingSearch(problem, self._claim, self._own)
        self._allowance = Allowance(states=states_max, ends=time.monotonic() + seconds_max)

    def chain(self) -> Chain:
        moments = self._replayed.moments
        kept = [moment for moment in moments if self._is_outside(moment.action)]
        spared: list[Moment] = []
        # Whatever breaks with some of the events breaks with more: so once is enough for each.
        for moment in reversed(tuple(kept)):
            rest = [other for other in kept if other is not moment]
            if self._courses(self._replayed.initial, rest).breaks:
                kept = rest
                spared.insert(0, moment)
        causes = []
        for moment in kept:
            rest = [other for other in kept if other is not moment]
            without = self._courses(self._replayed.initial, rest)
            impossible = () if self._allowance.is_over else self._impossible_without(moment)
            causes.append(Cause(moment, without, impossible))
        chances, unlooked = self._chances(kept)
        return Chain(
            replayed=self._replayed,
            causes=tuple(causes),
            spared=tuple(spared),
            chances=tuple(chances),
            unlooked=tuple(unlooked),
            knows_outside=bool(self._own),
        )

    def _is_outside(self, action: str) -> bool:
        return action not in self._own

    def _courses(self, start: State, events: Sequence[Moment], after: int = 0) -> Courses:
        """Courses from a state that comes after so many steps of the trace, or instead of one."""
        cycle = self._replayed.trace.cycle
        asked = [
            Event(
                moment.action,
                next(iter(moment.values), None),
                again=cycle is not None and moment.number > cycle,
            )
            for moment in events
        ]
        if isinstance(self._search, LastingSearch):
            is_waiting = self._is_waiting_after(after)
            return self._search.search(start.words, asked, self._allowance, is_waiting=is_waiting)
        return self._search.search(start.words, asked, self._allowance)

    def _is_waiting_after(self, number: int) -> bool:
        """True if something that the claim waits for has not come yet after so many steps."""
        claim, settings = self._claim, self._model.settings
        waits = False
        if isinstance(claim, Temporal):
            for state in self._replayed.states[: number + 1]:
                waits = (waits or claim.when(state, settings)) and not claim.then(state, settings)
        return waits

    def _impossible_without(self, moment: Moment) -> tuple[int, ...]:
        before = self._replayed.moments[: moment.number - 1]
        rest = self._replayed.moments[moment.number :]
        start = before[-1].after if before else self._replayed.initial
        taken = {step.number for step in skipping(rest, self._model, start)}
        return tuple(step.number for step in rest if step.number not in taken)

    def _chances(self, kept: Sequence[Moment]) -> tuple[list[Chance], list[int]]:
        found: list[Chance] = []
        unlooked: list[int] = []
        for number, state in enumerate(self._replayed.states[:-1]):
            if self._allowance.is_over:
                unlooked.append(number)
                continue
            following = self._replayed.moments[number]
            rest = [moment for moment in kept if moment.number > number]
            for step in self._model.successors(state):
                action, values = step.action.name, step.arguments
                if self._is_outside(action) or (action, values) == (
                    following.action,
                    following.values,
                ):
                    continue
                if self._still_ends_there(state, step, number):
                    continue
                courses = self._courses(step.after, rest, after=number)
                if courses.breaks is None and number not in unlooked:
                    unlooked.append(number)
                if courses.breaks is False:
                    _note(found, number, _as_moment(number, state, step), courses.states)
        return found, unlooked

    def _still_ends_there(self, state: State, step: Step, number: int) -> bool:
        """True if the rest of the trace, as far as possible, breaks the claim also after `step`.

        Of a claim about behaviours it is not tried: the courses say it as well.
        """
        settings, claim = self._model.settings, self._claim
        if not isinstance(claim, Invariant | ActionProperty):
            return False
        rest = skipping(self._replayed.moments[number:], self._model, step.after)
        if isinstance(claim, ActionProperty):
            return not claim.keeps(state, step.after, settings) or any(
                not claim.keeps(moment.before, moment.after, settings) for moment in rest
            )
        return not claim.holds(step.after, settings) or any(
            not claim.holds(moment.after, settings) for moment in rest
        )


def own_actions(problem: Problem, claim: Claim) -> frozenset[str]:
    """Return the actions that the protocol takes by itself: all others are done to it.

    User models do not declare them, so the result has only those that a claim about behaviours
    relies on, or none.
    """
    outside = words_of(problem).outside
    own = frozenset(problem.model.contents) - outside if outside else frozenset[str]()
    if isinstance(claim, Recoverable | Temporal):
        own |= taken_by_itself(problem, claim)
    return own


def _as_moment(number: int, state: State, step: Step) -> Moment:
    named = step.action.name_arguments(step.arguments)
    return Moment(number, step.action.name, named, state, step.after)


def _note(found: list[Chance], number: int, moment: Moment, states: int) -> None:
    """Draw out the chance that was there after the step before already, or begin another."""
    for place, chance in enumerate(found):
        if chance.last == number - 1 and chance.call == str(moment):
            found[place] = Chance(chance.first, number, moment, states)
            return
    found.append(Chance(number, number, moment, states))
