"""The cycle of a lasso, repeated under the other version.

An execution that stays in one state for ever is a cycle without a step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from checker.analysis.compare.aligning import How, Pair, aligned_again
from checker.problem.words import Words
from counterexamples import Call, Moment, neglected
from model.core.state import State
from model.core.transition_system import Model

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
    """What the other version does where the choices that repeat are made again and again.

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
    initial: State,
    pairs: Sequence[Pair],
    repeats_after: int,
    model: Model,
    words: Words,
    fair: Collection[str],
) -> Round:
    """Make the choices of the pairs after `repeats_after` again until they return to a state.

    `initial` and `model` are the other version's, and `fair` the names of its fair actions.
    """
    repeating = [pair.ours for pair in pairs[repeats_after:] if pair.ours is not None]
    moments = _taken(pairs[:repeats_after])
    states = [initial, *(moment.after for moment in moments)]
    # After how many steps a round begins; at the last of them the one before has ended.
    rounds = [len(moments)]
    around: Sequence[Pair] = pairs[repeats_after:]
    while True:
        if missing := next((p.ours for p in around if p.how is How.MISSING and p.ours), None):
            when = "" if len(rounds) == 1 else "the next time round "
            obstacle = f"{when}step {missing.number} is not possible"
            return Round(moments=tuple(moments), begins=rounds[0], obstacle=obstacle)
        moments += _taken(around)
        states += [moment.after for moment in _taken(around)]
        before = [states[number] for number in rounds]
        if not repeating or states[-1] in before:
            break
        rounds.append(len(moments))
        if len(rounds) > ROUNDS_MAX:
            obstacle = f"they come back to no state in {ROUNDS_MAX} rounds"
            return Round(moments=tuple(moments), begins=rounds[0], obstacle=obstacle)
        around = aligned_again(repeating, model, words, states[-1], len(moments))
    begins = rounds[before.index(states[-1])] if repeating else len(moments)
    on_it = states[begins:-1] or states[-1:]
    waiting = neglected(model, on_it, moments[begins:], fair)
    return Round(moments=tuple(moments), begins=begins, obliged=_obliged(model, on_it[0], waiting))


def _taken(pairs: Sequence[Pair]) -> list[Moment]:
    """The steps of the other version."""
    return [pair.theirs for pair in pairs if pair.theirs is not None]


def _obliged(model: Model, state: State, calls: Collection[Call]) -> tuple[Obliged, ...]:
    """These steps in the order of the model, with the bounds that keep them from being taken."""
    found = []
    for action in model.actions:
        for values in sorted(values for name, values in calls if name == action.name):
            exceeded = model.exceeded(state, action, values)
            found.append(
                Obliged(
                    action.name, action.named(values), model.limits[exceeded] if exceeded else ""
                )
            )
    return tuple(found)
