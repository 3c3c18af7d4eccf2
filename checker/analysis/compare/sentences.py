"""Sentences about how the other version ends, for screen and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.analysis.compare.comparison import Comparison
from checker.analysis.compare.continuation import Following, Outcome
from checker.analysis.compare.cycle import Obliged, Round
from checker.analysis.compare.ends import End
from checker.problem.family import words_of
from checker.problem.wording import counted
from counterexamples import NO_CLAIM, Moment, TraceStep, describe_cycle, describe_steps
from counterexamples.protocols import Narration

_NOT_FOUND_OUT = "what follows was not found out; raise --max-states or --max-time"


@dataclass(frozen=True, slots=True)
class EndText:
    """How a side ends. `is_broken` is None where that was not found out, or nothing is claimed.

    `way` are steps on from there, with their numbers; a line without a number is about those below
    it. `looked_at` says within which bounds.
    """

    sentence: str
    is_broken: bool | None
    way: tuple[tuple[str, str], ...] = ()
    looked_at: str = ""


def describe(narration: Narration, moment: Moment) -> str:
    """A step in the words of its side."""
    return narration.sentence(moment.action, moment.values, moment.before, moment.after)


def describe_ends(comparison: Comparison) -> tuple[EndText, EndText]:
    """Both ends, the left one first."""
    ends = comparison.ends
    left = _describe_end(comparison, ends.left)
    if ends.following is None:
        return left, _describe_end(comparison, ends.right)
    return left, _describe_following(comparison, ends.following)


def _describe_end(comparison: Comparison, end: End) -> EndText:
    claim = comparison.replayed.trace.invariant
    if claim == NO_CLAIM:
        return EndText("no claim is asked.", None)
    if not end.applies:
        return EndText(f"has nothing that {claim} is about.", None)
    if end.broken_at is None:
        return EndText(f"{claim} holds all the way.", False)
    return EndText(f"{claim} is broken {comparison.at(end.broken_at)}. {end.explanation}", True)


def _describe_following(comparison: Comparison, following: Following) -> EndText:
    is_broken = {Outcome.COMES: False, Outcome.STAYS: True}.get(following.outcome)
    report = _describe_way_back if following.round is None else _describe_promise
    return EndText(
        report(comparison, following),
        is_broken,
        tuple(_way(comparison, following)),
        _looked_at(comparison, following),
    )


def _describe_way_back(comparison: Comparison, following: Following) -> str:
    claim = comparison.replayed.trace.invariant
    match following.outcome:
        case Outcome.NOT_CLAIMED:
            return f"{claim} says nothing of where it ends."
        case Outcome.UNDECIDED:
            return f"{claim}: {_NOT_FOUND_OUT}."
        case Outcome.OPEN:
            cut = counted(following.open_states, "state")
            return f"{claim} is left open: no way back was found, and a bound cuts steps in {cut}."
        case Outcome.STAYS:
            return f"{claim} is broken, too. {following.explanation}"
        case Outcome.COMES:
            if not following.way:
                return f"{claim} holds on this way: it ends in a good state."
            steps = counted(len(following.way), "step")
            return f"{claim} holds on this way: the shortest way back takes {steps}:"


def _describe_promise(comparison: Comparison, following: Following) -> str:
    claim = comparison.replayed.trace.invariant
    around = following.round
    assert around is not None
    if following.stays_by_itself:
        return f"{claim} is broken, too. {following.explanation} {_describe_staying(comparison)}"
    cycle_text = _describe_round(comparison, around, is_waiting=following.is_waiting)
    match following.outcome:
        case Outcome.STAYS:
            describe_stay = f"But a fair behaviour can go on for ever: {following.explanation}"
            return f"{claim} is broken, too. {cycle_text} {describe_stay}"
        case Outcome.UNDECIDED:
            return f"{claim}: {_NOT_FOUND_OUT}. {cycle_text}"
        case Outcome.OPEN:
            cut = counted(following.open_states, "state")
            describe_open = (
                f"{claim} is left open: a bound cuts what might help in {cut}. {cycle_text}"
            )
            return f"{describe_open} The shortest way to it:" if following.way else describe_open
    return f"{claim} holds on this way{_describe_coming(comparison, following, cycle_text)}"


def _describe_coming(comparison: Comparison, following: Following, cycle_text: str) -> str:
    """That what is promised has come, or will."""
    if following.is_waiting:
        every = "Every fair behaviour comes to what it promises; the shortest way takes"
        return f". {cycle_text} {every} {counted(len(following.way), 'step')}:"
    if following.came_at is None:
        return ": it promises nothing there."
    came = f": what it promises came {comparison.at(following.came_at)}"
    came += ", and no fair behaviour that follows breaks it." if following.states else "."
    # Nobody waits there any more, so whether it can stand still is neither here nor there.
    return f"{came} {cycle_text}" if _repeats(comparison) else came


def _describe_staying(comparison: Comparison) -> str:
    """How it stays for ever in what repeats, which is the same on both sides."""
    if not _repeats(comparison):
        return f"For ever: {comparison.right.model.narration.stands_still}."
    return f"{_repeating(comparison)} repeat there as well."


def _describe_round(comparison: Comparison, around: Round, *, is_waiting: bool) -> str:
    """What becomes of the steps that repeat, if they do not break the claim."""
    repeating = "It" if around.is_standstill else _repeating(comparison)
    if around.obstacle:
        return f"{_repeating(comparison)} cannot repeat there: {around.obstacle}."
    if around.obliged:
        steps = _listed(around.obliged)
        if around.is_standstill:
            return f"It cannot stand still there: fairness obliges {steps}."
        return f"{repeating} cannot repeat for ever there: fairness obliges {steps}."
    if around.is_standstill:
        return "There it may stand still."
    each_time = ", and each time round it comes" if is_waiting else ""
    return f"{repeating} can repeat there as well{each_time}."


def _listed(obliged: Sequence[Obliged]) -> str:
    """`SendFetch(follower=1) and Fence(replica=0) (beyond the bound on epochs)`"""
    describe_each = [
        str(TraceStep(each.action, each.arguments))
        + (f" (beyond the bound on {each.limit})" if each.limit else "")
        for each in obliged
    ]
    *first, last = describe_each
    return f"{', '.join(first)} and {last}" if first else last


def _repeats(comparison: Comparison) -> bool:
    """Whether the trace goes round: else it stays in its last state."""
    trace = comparison.replayed.trace
    return trace.cycle is not None and trace.cycle < len(trace.steps)


def _repeating(comparison: Comparison) -> str:
    trace = comparison.replayed.trace
    assert trace.cycle is not None
    return describe_steps(trace.cycle, len(trace.steps))


def _way(comparison: Comparison, following: Following) -> list[tuple[str, str]]:
    """Steps on, numbered on from the last one of the trace."""
    last, narration = len(comparison.replayed.trace.steps), comparison.right.model.narration
    begins, ends = following.repeats_after, len(following.way)
    lines = []
    for number, moment in enumerate(following.way):
        if number == begins:
            lines.append(("", f"{describe_cycle(last + number, last + ends)}:"))
        lines.append((f"{last + number + 1}.", describe(narration, moment)))
    if begins is not None and begins == ends:
        lines.append(("", f"For ever: {narration.stands_still}."))
    return lines


def _looked_at(comparison: Comparison, following: Following) -> str:
    if not following.states:
        return ""
    right = comparison.right
    how = "so far" if following.outcome is Outcome.UNDECIDED else "all that can follow"
    within = f"within {words_of(right).sizes(right.model)}"
    if following.round is None:
        by = "by the steps that may lead back"
    elif _repeats(comparison):
        by = "with nothing more from outside than what repeats"
    else:
        by = "with nothing more from outside"
    return f"Looked at: {counted(following.states, 'state')}, {how} {by}, {within}."
