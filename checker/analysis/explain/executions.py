"""Executions under a fixed order of external events: can the claim still be violated?

An event is a step that is done to the protocol: a record produced, a crash. A course takes some of
the events in the order given, and between them any steps that the protocol takes by itself, as many
as it likes. All courses are gone through, so that "none breaks the claim" is as exact as a verdict.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import action_of, arguments_of, call_of
from waterline.checker.graph.edges import steps_out_of
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import Expander, Findings
from waterline.checker.search.rule_errors import explain_fault
from waterline.model.core.claim import ActionProperty, Judged
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How much one search may look at: distinct states, and until when (`time.monotonic`)."""

    states: int
    ends: float

    @property
    def is_over(self) -> bool:
        """True if the time is up."""
        return time.monotonic() > self.ends


@dataclass(frozen=True, slots=True)
class Event:
    """A step from outside: an action and its first argument, None where it has none.

    Further arguments, as how much a power loss takes, may be any: what they are worth depends on
    what went before. One that comes `again` may come at any time, as often as it likes: it is from
    the part of a trace that repeats.
    """

    action: str
    actor: int | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Courses:
    """True if a course breaks the claim, None if a budget ended the search; and the states.

    `states` is the number of those explored on the courses.
    """

    breaks: bool | None
    states: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Steps out of some states, an entry each.

    `sources` are indices of the source states among all those expanded, `steps` as in
    `checker.compiler.origins`, `successors` the target states. `may_break` is True if some step,
    one of these or of those before them in the same chunk, breaks the property.
    """

    sources: NDArray[np.int64]
    steps: NDArray[np.int64]
    successors: Rows
    may_break: bool


class StepsOnCourses:
    """The steps of a problem's model, distinguished by their origin.

    `own` names the actions that the protocol takes by itself.
    """

    def __init__(self, problem: Problem, own: Collection[str]) -> None:
        self.problem = problem
        self.model = problem.model
        self.expander = Expander(problem)
        names = [action.name for action in self.model.actions]
        self._is_own: NDArray[np.bool_] = np.array([name in own for name in names], np.bool_)
        self._number = {name: number for number, name in enumerate(names)}

    def out_of(self, rows: Rows) -> Iterator[Taken]:
        """All steps out of some states, some at a time.

        Raises what an action raises, as a run does (`checker.search.rule_errors`).
        """
        try:
            for steps in steps_out_of(self.expander, rows):
                may_break = bool(steps.tally.breaches.broken.any())
                yield Taken(steps.source, steps.step, steps.successors.copy(), may_break)
        except ModelFault as fault:
            raise explain_fault(self.problem, fault) from None

    def are_own(self, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the steps that the protocol takes by itself."""
        own: NDArray[np.bool_] = self._is_own[action_of(steps)]
        return own

    def are(self, steps: NDArray[np.int64], event: Event) -> NDArray[np.bool_]:
        """Mark the steps that are this event."""
        number = self._number[event.action]
        is_action: NDArray[np.bool_] = action_of(steps) == number
        if event.actor is None:
            return is_action
        sizes = [self.model.layout.sizes[p.over] for p in self.model.actions[number].parameters]
        beyond = int(np.prod(sizes[1:], dtype=np.int64))
        is_actor: NDArray[np.bool_] = arguments_of(steps) // beyond == event.actor
        return is_action & is_actor


class CourseSearch:
    """Search of the courses of a problem with one claim about states or steps.

    `own` names the actions that the protocol takes by itself. Raises what an action or the claim
    raises, as a run does (`checker.search.rule_errors`).
    """

    def __init__(self, problem: Problem, claim: Judged, own: Collection[str]) -> None:
        self.problem = problem
        self.model = problem.model
        self._claim = claim
        self._steps = StepsOnCourses(problem, own)

    def search(self, start: StateWords, events: Sequence[Event], allowance: Allowance) -> Courses:
        """Explore all courses from `start` with some of the `events`, in their order.

        A state is explored once: the states it reaches with fewer events to come are among those it
        reaches with more.
        """
        seen: set[bytes] = set()
        begun: list[list[Rows]] = [[] for _ in range(len(events) + 1)]
        begun[0].append(np.array([start], np.uint64))
        for passed, starts in enumerate(begun):
            frontier = _unseen(starts, seen)
            while len(frontier):
                if self._breaks_in(frontier):
                    return Courses(True, len(seen))
                if len(seen) > allowance.states or allowance.is_over:
                    return Courses(None, len(seen))
                reached: list[Rows] = []
                for taken in self._steps.out_of(frontier):
                    allowed = self._steps.are_own(taken.steps)
                    reached.append(taken.successors[allowed])
                    for later in range(passed, len(events)):
                        matching = self._steps.are(taken.steps, events[later])
                        if matching.any():
                            begun[later + 1].append(taken.successors[matching])
                            allowed |= matching
                    if self._is_broken_by(taken, allowed, frontier):
                        return Courses(True, len(seen))
                frontier = _unseen(reached, seen)
        return Courses(False, len(seen))

    def _breaks_in(self, frontier: Rows) -> bool:
        """True if a state of the frontier breaks the claim, if it is one about states."""
        findings = Findings(self.problem)
        self._steps.expander.inspect(np.ascontiguousarray(frontier), findings)
        if findings.faults:
            raise explain_fault(self.problem, ModelFault(min(findings.faults)))
        return bool(findings.broken.any())

    def _is_broken_by(self, taken: Taken, allowed: NDArray[np.bool_], frontier: Rows) -> bool:
        """True if an allowed step out of the frontier breaks the claim, if it is one about steps.

        Compiled code says only that some step does; which one, if it is allowed, Python finds.
        """
        claim = self._claim
        if not isinstance(claim, ActionProperty) or not taken.may_break:
            return False
        sources, steps = frontier[taken.sources[allowed]], taken.steps[allowed]
        return any(
            not claim.keeps(before, after, self.model.settings)
            for before, after in _transitions(self.model, sources, steps)
        )


def _transitions(
    model: Model, sources: Rows, steps: NDArray[np.int64]
) -> Iterator[tuple[State, State]]:
    """The states before and after each of these steps, which Python takes once more."""
    for row, step in zip(sources, steps.tolist(), strict=True):
        before = State(model.layout, state_words(row))
        name, arguments = call_of(model, step)
        yield before, model.apply(before, model.action(name), arguments)


def _unseen(blocks: Sequence[Rows], seen: set[bytes]) -> Rows:
    """Return the rows not seen before, each once, in the order of arrival."""
    if not blocks:
        return np.zeros((0, 1), np.uint64)
    rows = np.concatenate(blocks)
    width = rows.shape[1] * rows.itemsize
    text = np.ascontiguousarray(rows).tobytes()
    kept = []
    for number in range(len(rows)):
        key = text[number * width : (number + 1) * width]
        if key not in seen:
            seen.add(key)
            kept.append(number)
    return rows[kept]
