"""Ends of both sides: where the claim is violated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.analysis.compare.aligning import Pair
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import Moment, Replayed
from waterline.model.core.claim import ActionProperty, Behaviour, Invariant, Judged
from waterline.model.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End of one side. `broken_at` counts pairs from 1, 0 for the initial state; None: nowhere.

    A claim about behaviours is violated on the left at the state without a way back, or at the
    start of the waiting that never ends; on the right it is not judged, since that would need every
    continuation. `applies` is False if the version lacks the subject of the claim; `explanation`
    describes the violation.
    """

    broken_at: int | None
    explanation: str
    applies: bool = True
    is_judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Ends of both sides.

    `repeats_after` is the pair whose state on the left the last one returns to; None: nothing
    repeats.
    """

    left: End
    right: End
    repeats_after: int | None = None


def ends_of(
    left: Problem, replayed: Replayed, right: Problem, initial: State, pairs: Sequence[Pair]
) -> Ends:
    """How a trace of `left` ends, and its choices in `right`, whose initial state is `initial`."""
    claim = asked_alone(right)
    if isinstance(claim, Invariant | ActionProperty):
        ours, theirs = [pair.ours for pair in pairs], [pair.theirs for pair in pairs]
        return Ends(
            left=_end(left, claim, replayed.initial, ours),
            right=_end(right, claim, initial, theirs),
        )
    return _ends_of_behaviours(left, replayed, right, claim, pairs)


def _ends_of_behaviours(
    left: Problem, replayed: Replayed, right: Problem, claim: Behaviour, pairs: Sequence[Pair]
) -> Ends:
    trace = replayed.trace
    repeats_after = None if trace.cycle is None else _pairs_to(pairs, trace.cycle)
    begins = len(pairs) if repeats_after is None else repeats_after
    text = confirm_trace(trace, left.model, asked_alone(left)).explanation
    applies = claim.applies(right.model.settings)
    return Ends(
        left=End(broken_at=begins, explanation=text),
        right=End(broken_at=None, explanation="", applies=applies, is_judged=False),
        repeats_after=repeats_after,
    )


def _pairs_to(pairs: Sequence[Pair], number: int) -> int:
    """Return the number of the pair by whose end the trace has taken so many of its steps."""
    taken = [0, *(0 if pair.ours is None else pair.ours.number for pair in pairs)]
    return taken.index(number)


def _end(problem: Problem, claim: Judged, initial: State, moments: Sequence[Moment | None]) -> End:
    """Where on its way a claim about states or steps first breaks."""
    settings = problem.model.settings
    if not claim.applies(settings):
        return End(broken_at=None, explanation="", applies=False)
    if isinstance(claim, Invariant) and not claim.holds(initial, settings):
        return End(broken_at=0, explanation=claim.explain(initial, settings))
    for number, moment in enumerate(moments, start=1):
        if moment is None:
            continue
        if isinstance(claim, ActionProperty):
            if not claim.keeps(moment.before, moment.after, settings):
                text = claim.explain(moment.before, moment.after, settings)
                return End(broken_at=number, explanation=text)
        elif not claim.holds(moment.after, settings):
            return End(broken_at=number, explanation=claim.explain(moment.after, settings))
    return End(broken_at=None, explanation="")
