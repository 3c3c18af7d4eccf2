"""Ending of a wait: the fewest steps by which, says the model, what did not come does come.

A claim about recovery names the steps by which it comes; where it breaks, and of other claims,
nothing more goes wrong on that way: a broker is started again, a record is produced, leadership
moves; or, where none of these does, a broker is stopped and started. Bounds of the trace that would
forbid it are raised by one. On brokers these steps are taken, and all else goes on by itself.
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
"""How many states are looked at for each kind of ending."""
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
"""What goes on where nobody holds anything."""
_KINDS = (
    frozenset({"Restart", "Produce"}),
    frozenset({"Restart", "Produce", "Move"}),
    frozenset({"Restart", "Produce", "Move", "Crash", "Fence"}),
)
"""What may be done to end it, the mildest first."""
_RAISED = ("records", "restarts", "moves", "epochs")


@dataclass(frozen=True, slots=True)
class Ending:
    """The steps that somebody takes, in a model that has room for them."""

    model: Model
    moments: tuple[Moment, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.moments))


def ending_of(course: Course) -> Ending | None:
    """What ends the wait at the end of this course; None where nothing does in so few states."""
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
    """The fewest steps to what the claim says comes, with somebody leading, and nobody stopped."""
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
    """Whether somebody leads; where brokers are stopped, whether all are up again as well."""
    is_whole = "Crash" not in allowed or all(s.up[replica] == 1 for replica in range(s.replicas))
    return is_whole and current_leader(s) != NO_REPLICA


def _way(came_from: Mapping[State, tuple[State, Step] | None], end: State) -> list[Moment]:
    way: list[Moment] = []
    found = came_from[end]
    while found is not None:
        before, step = found
        named = step.action.named(step.arguments)
        way.append(Moment(0, step.action.name, tuple(named), before, step.after))
        found = came_from[before]
    return way[::-1]
