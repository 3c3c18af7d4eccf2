"""Current state of a walk, its history, and enabled steps.

    walk = Walk(problem)
    walk.take(walk.offers()[0].step)
    walk.breaks(), walk.record(NO_CLAIM)

Every step is interpreted; nothing is compiled or searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from waterline.checker.problem.problem import Problem
from waterline.checker.problem.where import NOWHERE, Condition, where_asked
from waterline.checker.search.rule_errors import Failure, Raised, attempt
from waterline.counterexamples import NO_CLAIM, Moment, Trace, trace_of
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.state import State
from waterline.model.core.transition_system import Step

STEPS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Offer:
    """A step that can be taken here, what it would do, and whether the environment counts it."""

    step: Step
    sentence: str
    is_fault: bool


class Walk:
    """A way through a model, made step by step. `where` is a condition that is watched."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = problem.model
        self.initial = 0
        self.moments: list[Moment] = []
        self.where: Condition | None = None
        # What a step leads to, and what breaks in it, is asked again and again.
        self._offered = lru_cache(maxsize=64)(self._offers)
        self._broken = lru_cache(maxsize=1024)(self._broken_in)

    @property
    def state(self) -> State:
        """Where one is."""
        return self.moments[-1].after if self.moments else self.model.initial[self.initial]

    @property
    def states(self) -> tuple[State, ...]:
        """The initial state, then the state after each step."""
        return (self.model.initial[self.initial], *(moment.after for moment in self.moments))

    @property
    def claims(self) -> tuple[Invariant | ActionProperty, ...]:
        """The claims that are watched, in the order of a report."""
        return tuple(claim for claim in self.problem.judged if self.problem.is_checked(claim))

    # --- going -----------------------------------------------------------------------------------

    def offers(self) -> tuple[Offer, ...]:
        """Every step that can be taken here, in the order of the table of contents."""
        return self._offered(self.state)

    def cut(self) -> Mapping[str, int]:
        """How many steps would be enabled here but for a bound, by its name."""
        counts: Counter[str] = Counter()
        for action in self.model.enabled_actions:
            for arguments in self.model.bindings(action):
                if not self.model.is_enabled(self.state, action, arguments):
                    continue
                if over := self.model.exceeded_limit(self.state, action, arguments):
                    counts[self.model.limits[over]] += 1
        return counts

    def take(self, step: Step) -> Moment:
        """Take a step that is offered here."""
        moment = Moment(
            len(self.moments) + 1,
            step.action.name,
            step.action.name_arguments(step.arguments),
            self.state,
            step.after,
        )
        self.moments.append(moment)
        return moment

    def begin(self, initial: int = 0) -> None:
        """Go to the beginning, to the initial state of this number."""
        self.moments.clear()
        self.initial = initial

    # --- what is claimed -------------------------------------------------------------------------

    def broken_claims(self, number: int | None = None) -> dict[str, str]:
        """The claims that are broken after so many steps, here where none is given; and how.

        Of a property: the last step breaks it.
        """
        at = len(self.moments) if number is None else number
        before = self.states[at - 1] if at else None
        return self._broken(before, self.states[at])

    def breaks(self) -> dict[str, str]:
        """The claims that are broken here and nowhere before, and how."""
        earlier = {
            name for number in range(len(self.moments)) for name in self.broken_claims(number)
        }
        return {
            name: described
            for name, described in self.broken_claims().items()
            if name not in earlier
        }

    def watch(self, text: str | None) -> None:
        """Watch a condition from here on, None for no more. Raises `BadCondition`."""
        assert self.problem.family is not None
        found = self.problem.family.condition(text, self.model) if text is not None else None
        self.where = found

    def is_where(self, number: int | None = None) -> bool:
        """True if the condition that is watched is true after so many steps, or here."""
        at = len(self.moments) if number is None else number
        return self.where is not None and bool(
            self.where.holds(self.states[at], self.model.settings)
        )

    # --- what is left of it ----------------------------------------------------------------------

    def savable(self) -> tuple[str, ...]:
        """Claims that a trace to here can be saved for: those that first break here, or none."""
        found = tuple(self.breaks())
        if self.is_where() and not any(map(self.is_where, range(len(self.moments)))):
            found = (*found, NOWHERE)
        return (*found, NO_CLAIM)

    def record(self, claim: str) -> Trace:
        """The trace to here, against one of `savable`."""
        model = self.model
        if claim == NOWHERE:
            assert self.where is not None
            model = where_asked(self.problem, self.where.text).model
        calls = [(moment.action, moment.values) for moment in self.moments]
        return trace_of(model, claim, calls, initial=self.initial)

    # --- how -------------------------------------------------------------------------------------

    def _offers(self, state: State) -> tuple[Offer, ...]:
        model, found = self.model, []
        for action in model.enabled_actions:
            for arguments in model.bindings(action):
                step = attempt(model, state, action, arguments)
                if isinstance(step, Failure):
                    raise Raised(step, model, state)
                if step is None:
                    continue
                described = model.narration.sentence(action.name, arguments, state, step.after)
                found.append(Offer(step, described, action.budget is not None))
        return tuple(found)

    def _broken_in(self, before: State | None, state: State) -> dict[str, str]:
        settings: Any = self.model.settings
        found = {}
        for claim in self.claims:
            try:
                if isinstance(claim, Invariant):
                    if not claim.holds(state, settings):
                        found[claim.name] = claim.explain(state, settings)
                elif before is not None and not claim.keeps(before, state, settings):
                    found[claim.name] = claim.explain(before, state, settings)
            except Exception as error:
                raise Raised(Failure(error, claim.name), self.model, state) from None
        return found
