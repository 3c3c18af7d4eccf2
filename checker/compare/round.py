"""What becomes of the part of a trace that repeats, when another version takes it again and again.

Whoever stays in one state for ever goes round without a step: that is a round, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from checker.compare.aligning import How, Pair
from counterexamples import Call, Moment, neglected, why_not
from model.kit.state import State
from model.kit.transition_system import Model

ROUNDS_MAX = 100
"""So often the other version is let go round to see whether it comes back to where it was."""


@dataclass(frozen=True, slots=True)
class Obliged:
    """A step that fairness obliges. `limit` is the bound that keeps it from being taken, if any."""

    action: str
    arguments: tuple[tuple[str, int], ...]
    limit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The steps that the other version takes of those that repeat, taken again and again.

    `moments` are all of its steps, further rounds included: the last one returns to the state after
    `begins` of them. `obstacle` says why it cannot go round for ever, "" where it can; then
    `obliged` are the fair steps, in the order of the model, that are enabled all the time on the
    way round and that are never taken. With one of them no fair behaviour goes round for ever.
    """

    moments: tuple[Moment, ...]
    begins: int
    obstacle: str = ""
    obliged: tuple[Obliged, ...] = ()

    @property
    def is_fair(self) -> bool:
        """Whether a fair behaviour can go round so for ever."""
        return not self.obstacle and not self.obliged

    @property
    def is_standstill(self) -> bool:
        """Whether nothing moves."""
        return self.begins == len(self.moments)


def gone_round(
    initial: State, pairs: Sequence[Pair], repeats_after: int, model: Model, fair: Collection[str]
) -> Round:
    """Take the steps of the pairs after `repeats_after` again until they return to a state.

    `initial` and `model` are the other version's, and `fair` the names of its fair actions.
    """
    taken = [pair.theirs for pair in pairs[:repeats_after] if pair.theirs is not None]
    around = [pair.theirs for pair in pairs[repeats_after:] if pair.theirs is not None]
    moments, begins = [*taken, *around], len(taken)
    for pair in pairs[repeats_after:]:
        if pair.how is How.MISSING and pair.ours is not None:
            obstacle = f"step {pair.ours.number} is not possible"
            return Round(moments=tuple(moments), begins=begins, obstacle=obstacle)
    states = [initial, *(moment.after for moment in moments)]
    # Where one round begins and ends, then the next one: after so many steps.
    while states[-1] not in states[begins : -1 : len(around) or 1] and around:
        if len(moments) >= begins + ROUNDS_MAX * len(around):
            obstacle = f"they come back to no state in {ROUNDS_MAX} rounds"
            return Round(moments=tuple(moments), begins=begins, obstacle=obstacle)
        for moment in around:
            action = next(a for a in model.actions if a.name == moment.action)
            if why := why_not(model, states[-1], action, moment.values):
                taken_first = tuple(moments[: begins + len(around)])
                obstacle = f"made again, {moment} {why}"
                return Round(moments=taken_first, begins=begins, obstacle=obstacle)
            after = model.apply(states[-1], action, moment.values)
            number = len(moments) + 1
            moments.append(Moment(number, moment.action, moment.arguments, states[-1], after))
            states.append(after)
    if around:
        begins += len(around) * states[begins :: len(around)].index(states[-1])
    on_it = states[begins:-1] or states[-1:]
    waiting = neglected(model, on_it, moments[begins:], fair)
    return Round(moments=tuple(moments), begins=begins, obliged=_obliged(model, on_it[0], waiting))


def _obliged(model: Model, state: State, calls: Collection[Call]) -> tuple[Obliged, ...]:
    """These steps in the order of the model, with the bounds that keep them from being taken."""
    found = []
    for action in model.actions:
        for values in sorted(values for name, values in calls if name == action.name):
            named = tuple((p.name, v) for p, v in zip(action.parameters, values, strict=True))
            exceeded = model.exceeded(state, action, values)
            found.append(Obliged(action.name, named, model.limits[exceeded] if exceeded else ""))
    return tuple(found)
