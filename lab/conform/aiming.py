"""Aimed walks: which outcomes can be compared at all, and the nearest one not compared yet.

An outcome is out of reach on brokers if every path to it contains a step that cannot be taken.
Searches that allow one kind of step at a time find which step that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lab.conform.harness_digest import harness_digest
from lab.conform.outcomes import Outcome, outcome_of
from lab.conform.reaching import DEAR, Search
from lab.conform.steerable import Steerable
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stepping import LAG_MS, NEEDS_LAG, NO_LAG_MS
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.prepare import prepare
from waterline.counterexamples import Moment
from waterline.model.core.transition_system import Call

NEAR_STATES_MAX = 40_000
"""Maximum number of states, around the brokers' current one, searched for the next outcome."""
_TWO_KINDS = "steps of two kinds"
_THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Outcomes that a model reaches within `states`, all of them if `complete`.

    `ways` are the steps to each that can be compared on brokers, including the step with that
    outcome; `unsteerable` gives the obstacle of each of the others. `restrictions` are those of the
    harness that made the plan, whose digest is `made_by`.
    """

    states: int
    complete: bool
    ways: Mapping[Outcome, tuple[Call, ...]]
    unsteerable: Mapping[Outcome, str]
    restrictions: Mapping[str, str]
    made_by: str

    @property
    def outcomes(self) -> int:
        """Number of outcomes."""
        return len(self.ways) + len(self.unsteerable)


def lag_of(way: Sequence[Call]) -> int:
    """The replica.lag.time.max.ms that brokers need for a way."""
    return LAG_MS if any(action in NEEDS_LAG for action, _ in way) else NO_LAG_MS


def plan_goals(
    problem: Problem,
    release: KafkaRelease,
    *,
    states_max: int,
    announce: Callable[[str], None],
) -> Plan:
    """Search the model at its bounds for every outcome."""
    prepare(problem, threads=_THREADS, announce=announce)
    steerable = Steerable(problem.model, release, LAG_MS)
    search = Search(problem, steerable)
    search.carried_out(states_max=states_max)
    ways, complete = search.ways(), search.complete
    every, states, all_complete = _find_outcomes(problem, None, states_max)
    left = every - set(ways)
    restrictions = steerable.restrictions()
    unsteerable: dict[Outcome, str] = {}
    for name, why in restrictions.items():
        if len(restrictions) == 1:
            unsteerable = dict.fromkeys(left, why)  # What is in the way is that alone.
        elif left:
            lifted = Steerable(problem.model, release, LAG_MS, frozenset({name}))
            met, _, _ = _find_outcomes(problem, lifted, states_max)
            unsteerable |= dict.fromkeys(left & met, why)
    for outcome in left - set(unsteerable):
        own = restrictions.get(outcome[0])
        unsteerable[outcome] = own or f"{_TWO_KINDS}: {'; '.join(restrictions.values())}"
    return Plan(
        states=states,
        complete=complete and all_complete,
        ways=ways,
        unsteerable=unsteerable,
        restrictions=restrictions,
        made_by=harness_digest(),
    )


def _find_outcomes(
    problem: Problem, steerable: Steerable | None, states_max: int
) -> tuple[frozenset[Outcome], int, bool]:
    search = Search(problem, steerable)
    search.carried_out(states_max=states_max)
    return search.outcomes, search.states, search.complete


@dataclass(slots=True)
class Aiming:
    """Chooser of steps to the nearest wanted outcome, and on to the next.

    Follows `far`, a path to the outcome `goal`, if no wanted outcome is near the start. The walk
    ends once none is near. Asking for the next step confirms the last one: its outcome is no longer
    wanted.
    """

    problem: Problem
    steerable: Steerable
    wanted: set[Outcome]
    goal: Outcome | None
    far: Sequence[Call]
    _left: list[Call] = field(default_factory=list)
    _last: Moment | None = None

    def __call__(self, moments: Sequence[Moment], silent: int) -> Moment | None:
        """The next step, None to end the walk."""
        is_first = self._last is None
        if self._last is not None:
            last = self._last
            self.wanted.discard(
                outcome_of(self.problem.model, last.action, last.before, last.after)
            )
        if not moments:
            return None
        self._last = self._next_of(moments)
        if self._last is None and self._aim(moments[0], silent, is_first=is_first):
            self._last = self._next_of(moments)
        return self._last

    def _next_of(self, moments: Sequence[Moment]) -> Moment | None:
        """The step that is next on the way, if it is offered and the goal is still wanted."""
        if not self._left or self.goal not in self.wanted:
            return None
        for moment in moments:
            if (moment.action, moment.values) == self._left[0]:
                self._left.pop(0)
                return moment
        return None

    def _aim(self, moment: Moment, silent: int, *, is_first: bool) -> bool:
        """Find a way from the state before this moment; whether there is one."""
        search = Search(self.problem, self.steerable, start=moment.before, silent=silent)
        search.carried_out(states_max=NEAR_STATES_MAX, wanted=self.wanted)
        ways = list(search.ways(self.wanted).items())
        if ways:
            self.goal, way = min(ways, key=lambda each: (_dear(each[1]), len(each[1]), each))
            self._left = list(way)
        else:
            self._left = list(self.far) if is_first else []
        return bool(self._left)


def _dear(way: Sequence[Call]) -> int:
    return sum(action in DEAR for action, _ in way)
