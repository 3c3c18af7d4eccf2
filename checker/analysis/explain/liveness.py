"""Executions for liveness and recovery claims: is there a way back, does the event still come?

After the last of its events a course goes on forever, by the steps that the protocol takes by
itself. So all courses together are a graph, whose nodes are states with the number of events that
have come or been passed over. The claim is judged on it as on the graph of a search
(`checker.liveness`). Ways back and fair steps count as the protocol's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from waterline.checker.analysis.explain.executions import Allowance, Courses, Event, StepsOnCourses
from waterline.checker.graph.adjacency import Mask, Numbers
from waterline.checker.liveness.fairness import FairSteps, Staying, staying
from waterline.checker.liveness.lasso import Recovery, Waiting, Ways, waiting
from waterline.checker.liveness.space import Space, answers_of, asked_of
from waterline.checker.problem.packed_rows import Rows, StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.rule_errors import explain_fault
from waterline.model.core.claim import Behaviour, Recoverable, Temporal, fair_actions, ways_back
from waterline.model.core.transition_system import Model

_NOT_ON_COURSE = -1
_Node = tuple[bytes, int]
"""The words of a state, and which event may come next."""


def taken_by_itself(problem: Problem, claim: Behaviour) -> frozenset[str]:
    """Return the actions that a claim takes as fair, or allows as ways back."""
    actions = problem.model.enabled_actions
    back = ways_back(claim, actions) if isinstance(claim, Recoverable) else ()
    return frozenset((*fair_actions(actions), *back))


class LastingSearch:
    """Search of the courses of a problem with one claim about behaviours.

    `own` names the actions that the protocol takes by itself. Raises what an action or the claim
    raises, as a run does (`checker.search.rule_errors`).
    """

    def __init__(self, problem: Problem, claim: Behaviour, own: Collection[str]) -> None:
        self.problem = problem
        self._claim = claim
        self._steps = StepsOnCourses(problem, own)

    def search(
        self,
        start: StateWords,
        events: Sequence[Event],
        allowance: Allowance,
        *,
        is_waiting: bool = False,
    ) -> Courses:
        """Go through all courses from `start` with some of the `events`, in their order.

        `is_waiting`: something that is claimed to come has not come yet at the start.
        """
        space, states = self.space(start, events, allowance)
        return Courses(None if space is None else self._judge(space, is_waiting), states)

    def space(
        self, start: StateWords, events: Sequence[Event], allowance: Allowance
    ) -> tuple[Space | None, int]:
        """All courses as one graph whose node 0 is the start, None where the allowance ended it.

        And how many states they lead through.
        """
        graph = _Graph(start)
        while len(graph.frontier):
            if len(graph) > allowance.states or allowance.is_over:
                return None, graph.states
            for next_event, rows, numbers in graph.parts_of_frontier():
                self._expand(graph, rows, numbers, next_event, events)
        return self._space(graph), graph.states

    def _expand(
        self,
        graph: _Graph,
        rows: Rows,
        numbers: Numbers,
        next_event: int,
        events: Sequence[Event],
    ) -> None:
        """Take every step of a course out of states that have the same next event."""
        for taken in self._steps.out_of(rows):
            steps = taken.steps
            leads_to: NDArray[np.int64] = np.full(len(steps), _NOT_ON_COURSE, np.int64)
            # What matches several events is the first of them: then most are still to come.
            for place in reversed(range(next_event, len(events))):
                leads_to[self._steps.are(steps, events[place])] = place + 1
            own = self._steps.are_own(steps)
            for event in events:
                if event.again:
                    own |= self._steps.are(steps, event)
            leads_to[own] = next_event
            on_course = leads_to != _NOT_ON_COURSE
            graph.add(
                taken.successors[on_course],
                leads_to[on_course],
                numbers[taken.sources[on_course]],
                steps[on_course],
            )

    def _space(self, graph: _Graph) -> Space:
        asked = asked_of(self.problem)
        rows = graph.rows_of(range(len(graph)))
        answers = answers_of(self.problem, asked, rows)
        if answers.fault is not None:
            raise explain_fault(self.problem, ModelFault(answers.fault))
        cut_steps: Numbers = np.array(asked.cut_steps, np.int32)
        at, which = np.nonzero(answers.cuts)
        source, target, step = graph.edges
        return Space(
            rows,
            graph.depth,
            source,
            target,
            step,
            tuple(answers.truths.T),
            at.astype(np.int32),
            cut_steps[which],
        )

    def _judge(self, space: Space, is_waiting: bool) -> bool | None:
        """True if a course breaks the claim, None where a bound leaves that open."""
        if isinstance(self._claim, Recoverable):
            _, recovery = recovery_in(space, self.problem.model, self._claim)
            breaks, unjudged = len(recovery.stuck) > 0, recovery.unjudged
        else:
            _, _, stays = staying_in(space, self.problem.model, self._claim, is_waiting=is_waiting)
            breaks, unjudged = bool(stays.anywhere.any()), stays.unjudged
        return True if breaks else None if unjudged else False


def recovery_in(space: Space, model: Model, claim: Recoverable) -> tuple[Ways, Recovery]:
    """Find the nodes of all courses without a way back; the problem has one claim only."""
    when, good = space.truths
    ways = Ways(space, model, ways_back(claim, model.enabled_actions))
    return ways, ways.recovery(good, when)


def staying_in(
    space: Space, model: Model, claim: Temporal, *, is_waiting: bool
) -> tuple[FairSteps, Waiting, Staying]:
    """Find where courses wait, and where a fair one can stay; the problem has one claim only.

    `is_waiting`: a claimed event has not come yet at the start.
    """
    when, then = space.truths
    begins: Mask = when.copy()
    begins[0] |= is_waiting
    fair = FairSteps(space, model)
    waits = waiting(space, claim.pattern, begins, then)
    return fair, waits, staying(space, fair, waits.inside)


class _Graph:
    """All courses: nodes by number in the order of discovery, and the steps."""

    def __init__(self, start: StateWords) -> None:
        words = np.array(start, np.uint64).tobytes()
        self._columns = len(start)
        self._numbers: dict[_Node, int] = {(words, 0): 0}
        self._words: list[bytes] = [words]
        self._next_event: list[int] = [0]
        self._depth: list[int] = [0]
        self._edges: list[tuple[Numbers, Numbers, Numbers]] = []
        self.frontier: list[int] = [0]

    def __len__(self) -> int:
        return len(self._next_event)

    @property
    def states(self) -> int:
        """How many different states there are."""
        return len(set(self._words))

    def rows_of(self, numbers: Iterable[int]) -> Rows:
        """The states of these nodes."""
        text = b"".join([self._words[number] for number in numbers])
        return np.frombuffer(text, np.uint64).reshape(-1, self._columns)

    @property
    def depth(self) -> Numbers:
        """How many steps each node is from the start."""
        return np.array(self._depth, np.int32)

    @property
    def edges(self) -> tuple[Numbers, Numbers, Numbers]:
        """Source, target and step of each, in the order of sources and then of steps."""
        none: Numbers = np.empty(0, np.int32)
        columns = zip((none, none, none), *self._edges, strict=True)
        source, target, step = (np.concatenate(parts) for parts in columns)
        order = np.lexsort((step, source))
        return source[order], target[order], step[order]

    def parts_of_frontier(self) -> Iterator[tuple[int, Rows, Numbers]]:
        """Yield the frontier by next event, and empty it.

        Each part has its states, and their numbers.
        """
        frontier, self.frontier = self.frontier, []
        by_event: dict[int, list[int]] = defaultdict(list)
        for number in frontier:
            by_event[self._next_event[number]].append(number)
        for place, numbers in by_event.items():
            yield place, self.rows_of(numbers), np.array(numbers, np.int32)

    def add(
        self,
        rows: Rows,
        next_event: NDArray[np.int64],
        sources: Numbers,
        steps: NDArray[np.int64],
    ) -> None:
        """Add steps, from numbered nodes to states with their next events."""
        targets = [
            self._number_of(rows[i].tobytes(), place, int(sources[i]))
            for i, place in enumerate(next_event.tolist())
        ]
        self._edges.append(
            (sources.astype(np.int32), np.array(targets, np.int32), steps.astype(np.int32))
        )

    def _number_of(self, words: bytes, next_event: int, source: int) -> int:
        number = self._numbers.setdefault((words, next_event), len(self))
        if number == len(self):
            self._words.append(words)
            self._next_event.append(next_event)
            self._depth.append(self._depth[source] + 1)
            self.frontier.append(number)
        return number
