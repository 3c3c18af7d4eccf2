"""End of a wait: the shortest path of the model after which the awaited event occurs.

A recovery claim names the steps that lead to recovery. For other claims, or if those steps do not
suffice, the path avoids new faults: it starts a broker, produces a record or moves leadership. If
that fails, it stops and starts a broker. A bound of the trace that forbids a step is raised by one.
The harness takes these steps on brokers, and everything else runs freely.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from waterline.checker.kafka.confirm.course import Course
from waterline.counterexamples import Moment, skipping
from waterline.invariants.current_leader import current_leader
from waterline.model.core.claim import Behaviour, Recoverable, Temporal, ways_back
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.terms import NO_REPLICA

STATES_MAX = 30_000
"""Maximum number of states searched for each kind of ending."""
_BY_ITSELF = frozenset(
    {
        "SendFetch",
        "LeaderFetch",
        "RecvFetch",
        "RecvDiverging",
        "RecvOutOfRange",
        "OffsetForLeaderEpoch",
        "AlterPartition",
        "HearAnswer",
        "Learn",
    }
)
"""Actions that brokers take freely while the harness holds nothing back."""
_KINDS = (
    frozenset({"Restart", "Produce"}),
    frozenset({"Restart", "Produce", "Move"}),
    frozenset({"Restart", "Produce", "Move", "Crash", "Fence"}),
)
"""Actions that may end the wait, the mildest set first."""
_RAISED = ("records", "restarts", "moves", "epochs")


@dataclass(frozen=True, slots=True)
class Ending:
    """Steps that the harness takes, in a model with bounds wide enough for them."""

    model: Model
    moments: tuple[Moment, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.moments))


def ending_of(course: Course) -> Ending | None:
    """Return the ending of the course's wait; None if the states searched contain none."""
    claim = course.claim
    assert isinstance(claim, Behaviour)
    model = _wider(course)
    state = model.initial[course.trace.initial]
    for moment in skipping(course.replayed.moments, model, state):
        state = moment.after
    recovering = frozenset(
        ways_back(claim, model.actions) if isinstance(claim, Recoverable) else ()
    )
    for kind in (recovering, *_KINDS):
        way = _shortest(model, state, claim, _BY_ITSELF | kind)
        if way is not None:
            return Ending(model, tuple(m for m in way if m.action not in _BY_ITSELF))
    return None


def _wider(course: Course) -> Model:
    environment = Environment.from_options(dict(course.trace.environment))
    raised = {name: getattr(environment, name) + 1 for name in _RAISED}
    return message_model(course.model.version, replace(environment, **raised))


def _shortest(
    model: Model, start: State, claim: Behaviour, allowed: frozenset[str]
) -> list[Moment] | None:
    """Return the shortest path to the awaited state with a live leader and no broker stopped."""
    good = claim.then if isinstance(claim, Temporal) else claim.good
    came_from: dict[State, tuple[State, Step] | None] = {start: None}
    waiting = deque([start])
    while waiting and len(came_from) < STATES_MAX:
        state = waiting.popleft()
        for step in model.successors(state):
            if step.action.name not in allowed or step.after in came_from:
                continue
            came_from[step.after] = state, step
            if _leads(step.after, allowed) and good(step.after, model.settings):
                return _way(came_from, step.after)
            waiting.append(step.after)
    return None


def _leads(s: State, allowed: frozenset[str]) -> bool:
    """True if the partition has a leader and, where crashes are allowed, every broker is up."""
    is_whole = "Crash" not in allowed or all(s.up[replica] == 1 for replica in range(s.replicas))
    return is_whole and current_leader(s) != NO_REPLICA


def _way(came_from: Mapping[State, tuple[State, Step] | None], end: State) -> list[Moment]:
    way: list[Moment] = []
    found = came_from[end]
    while found is not None:
        before, step = found
        named = step.action.name_arguments(step.arguments)
        way.append(Moment(0, step.action.name, tuple(named), before, step.after))
        found = came_from[before]
    return way[::-1]
