"""Alignment: repeats a trace's choices under another version and pairs the steps.

For each step of the trace the first of these that there is, in the state that the other version has
come to by then:

1. the very step: same action, same arguments;
2. in its place a step of the same action and the same brokers, the nearest one: with the fewest
   other arguments that differ, then with the least difference, then the first in the order of the
   model;
3. in its place a step that stands for the same (`checker.problem.words.Words.alike`) with the same
   first argument, the first in the order of the model: a diverging answer received instead of
   records;
4. the very step after steps of the protocol's own with the same first argument, as few as possible
   and at most `INSERTED_MAX`, of equally many the first in the order of the model: a follower asks
   for the end of an epoch before it fetches;
5. nothing: the step is passed over.

So the outcome is a function of the trace and the two models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from waterline.checker.problem.words import Words
from waterline.counterexamples import Moment, Replayed
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step

INSERTED_MAX = 4
"""Steps of the protocol's own that may come before one of the trace."""


class How(Enum):
    """Fate of a step of the trace in the other version."""

    SAME = "same"
    INSTEAD = "instead"
    INSERTED = "inserted"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of the trace next to the other version's step; None where one side has none.

    `left` and `right` are the states after it. `why` is the reason for which the other version does
    not take the same step, "" where it does. Each side numbers the moments by its own steps.
    """

    how: How
    ours: Moment | None
    theirs: Moment | None
    left: State
    right: State
    why: str = ""


def align(replayed: Replayed, other: Model, words: Words) -> tuple[Pair, ...]:
    """Align the steps of a trace with steps of `other`, by the rule of this module."""
    right = other.initial[min(replayed.trace.initial, len(other.initial) - 1)]
    aligning = _Aligning(other, words, replayed.initial, right)
    return tuple(aligning.pairs(replayed.moments))


class _Aligning:
    """The other version on its way."""

    def __init__(self, other: Model, words: Words, left: State, right: State) -> None:
        self._other, self._words = other, words
        self._left, self._right, self._taken = left, right, 0

    def pairs(self, moments: Sequence[Moment]) -> Iterator[Pair]:
        for moment in moments:
            yield from self._pairs_of(moment)

    def _pairs_of(self, moment: Moment) -> Iterator[Pair]:
        offered = list(self._other.successors(self._right))
        very = next((step for step in offered if _is_very(step, moment)), None)
        if very is not None:
            yield self._beside(moment, How.SAME, very)
            return
        why = self._why_not(moment)
        instead = self._nearest(offered, moment) or self._alike(offered, moment)
        if instead is not None:
            yield self._beside(moment, How.INSTEAD, instead, why)
            return
        way = self._way_to(moment)
        for step in way[:-1]:
            theirs = self._taking(step)
            yield Pair(How.INSERTED, None, theirs, self._left, self._right)
        if way:
            yield self._beside(moment, How.SAME, way[-1])
        else:
            self._left = moment.after
            yield Pair(How.MISSING, moment, None, self._left, self._right, why)

    def _beside(self, moment: Moment, how: How, step: Step, why: str = "") -> Pair:
        theirs = self._taking(step)
        self._left = moment.after
        return Pair(how, moment, theirs, self._left, self._right, why)

    def _taking(self, step: Step) -> Moment:
        self._taken += 1
        named = step.action.name_arguments(step.arguments)
        before, self._right = self._right, step.after
        return Moment(self._taken, step.action.name, named, before, step.after)

    def _nearest(self, offered: Sequence[Step], moment: Moment) -> Step | None:
        """Return the nearest step of the same action and brokers, if any is offered."""
        fitting = [
            step
            for step in offered
            if step.action.name == moment.action
            and all(
                mine == theirs
                for parameter, mine, theirs in zip(
                    step.action.parameters, step.arguments, moment.values, strict=True
                )
                if parameter.over == step.action.parameters[0].over
            )
        ]
        return min(fitting, key=lambda step: _distance(step, moment), default=None)

    def _alike(self, offered: Sequence[Step], moment: Moment) -> Step | None:
        kinds = {name for kind in self._words.alike if moment.action in kind for name in kind}
        for step in offered:
            if step.action.name in kinds and step.arguments[:1] == moment.values[:1]:
                return step
        return None

    def _way_to(self, moment: Moment) -> tuple[Step, ...]:
        """Steps of the protocol's own by the same broker, and the very step; () for none."""
        if not self._words.outside or moment.action not in self._other.contents:
            return ()
        ways: list[tuple[Step, ...]] = [()]
        seen = {self._right}
        for _ in range(INSERTED_MAX):
            longer: list[tuple[Step, ...]] = []
            for way in ways:
                for step in self._other.successors(way[-1].after if way else self._right):
                    is_own = step.action.name not in self._words.outside
                    if not is_own or step.arguments[:1] != moment.values[:1] or step.after in seen:
                        continue
                    seen.add(step.after)
                    longer.append((*way, step))
                    for last in self._other.successors(step.after):
                        if _is_very(last, moment):
                            return (*way, step, last)
            ways = longer
        return ()

    def _why_not(self, moment: Moment) -> str:
        """Why the other version does not offer the step."""
        model = self._other
        action = next((a for a in model.actions if a.name == moment.action), None)
        if action is None or action.name not in model.contents:
            return f"{moment.action} is not part of {model.version}"
        for parameter, value in zip(action.parameters, moment.values, strict=True):
            if not value < model.layout.sizes[parameter.over]:
                return f"there is no {parameter.name} {value}"
        if model.is_enabled(self._right, action, moment.values):
            limit = model.limits[model.exceeded_limit(self._right, action, moment.values)]
            return f"it is beyond the bound on {limit}"
        return "it is not enabled"


def _is_very(step: Step, moment: Moment) -> bool:
    return step.action.name == moment.action and step.arguments == moment.values


def _distance(step: Step, moment: Moment) -> tuple[int, int]:
    apart = [abs(mine - theirs) for mine, theirs in zip(step.arguments, moment.values, strict=True)]
    return sum(difference > 0 for difference in apart), sum(apart)
