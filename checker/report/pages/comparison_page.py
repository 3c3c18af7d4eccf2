"""HTML page of a comparison: both clusters after each step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from waterline.checker.analysis.compare.aligning import How
from waterline.checker.analysis.compare.comparison import (
    Comparison,
    End,
    describe_changes,
    describe_ends,
)
from waterline.checker.analysis.compare.rendering import describe_pair, names
from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.problem.problem import Problem
from waterline.checker.report.pages.drawing import Drawing, draw
from waterline.checker.report.pages.page import BESIDE_STEPS_MAX, render, require_few_steps
from waterline.checker.report.pages.scenes import Scene, scenes_of
from waterline.checker.report.pages.trace_sequence import sequence_of
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import NO_CLAIM, Moment, Replayed, to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One side: its name, its scenes by the steps of its own, and its end."""

    name: str
    scenes: tuple[Scene, ...]
    offsets: int
    drawing: Drawing | None
    is_broken: bool | None
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two steps next to each other: `place` is the trace's number, or + for a step that it lacks.

    `sides` are (sentence, scene) of the left and the right.
    """

    number: int
    place: str
    kind: str
    is_parting: bool
    repeats: bool
    sides: tuple[tuple[str, Scene], tuple[str, Scene]]


def comparison_page(comparison: Comparison) -> str:
    """The page. Raises `TooLongForPage`."""
    require_few_steps([2 * len(comparison.pairs)])
    one, two = names(comparison)
    claim = comparison.replayed.trace.invariant
    ours = [pair.ours for pair in comparison.pairs]
    theirs = [pair.theirs for pair in comparison.pairs]
    left = _story(comparison, comparison.left, ours, comparison.ends.left)
    right = _story(comparison, comparison.right, theirs, comparison.ends.right)
    sides = (
        _side(comparison, left, one, comparison.ends.left),
        _side(comparison, right, two, comparison.ends.right),
    )
    return render(
        "compare.html.j2",
        title=f"{one} and {two}: {claim}",
        claim=next(c.sentence for c in comparison.left.claims if c.name == claim),
        changes=describe_changes(comparison.left.model, comparison.right.model),
        parting=None if comparison.parting is None else comparison.place(comparison.parting),
        differences=comparison.differences,
        sides=sides,
        pairs=_pairs(comparison, sides),
        file=to_json(comparison.replayed.trace),
    )


def _story(
    comparison: Comparison, problem: Problem, moments: list[Moment | None], end: End
) -> Story:
    """The story of one side. What breaks no claim at its last step has none to break."""
    taken = tuple(moment for moment in moments if moment is not None)
    initial = comparison.states_after(0)[0 if problem is comparison.left else 1]
    trace = comparison.replayed.trace
    if problem is not comparison.left:
        trace = replace(trace, cycle=None)
    replayed = Replayed(trace, problem.model.narration, initial, taken)
    is_last = end.broken_at == len(moments) and moments[-1:] != [None]
    claim, explanation = (trace.invariant, end.explanation) if is_last else ("", "")
    return story_of(Finding(claim, "", replayed, explanation, problem.model))


def _side(comparison: Comparison, story: Story, name: str, end: End) -> _Side:
    claim = comparison.replayed.trace.invariant
    if claim == NO_CLAIM:
        text = "no claim is asked."
    elif end.broken_at is not None:
        text = f"breaks {claim} at {comparison.place(end.broken_at)}. {end.explanation}"
    elif end.applies:
        text = f"keeps {claim} all the way."
    else:
        text = f"has nothing that {claim} is about."
    is_broken: bool | None = end.broken_at is not None
    if not end.is_judged:
        _, described = describe_ends(comparison)
        text, is_broken = described.sentence, described.is_broken
    has_diagram = story.steps <= BESIDE_STEPS_MAX
    return _Side(
        name=name,
        scenes=scenes_of(story),
        offsets=story.longest_log,
        drawing=draw(sequence_of(story, title=name)) if has_diagram else None,
        is_broken=is_broken,
        end=text,
    )


def _pairs(comparison: Comparison, sides: tuple[_Side, _Side]) -> list[_Pair]:
    left, right = sides
    taken, repeats_after = [0, 0], comparison.ends.repeats_after
    pairs = [
        _Pair(
            number=0,
            place="0",
            kind=How.SAME.value,
            is_parting=comparison.parting == 0,
            repeats=False,
            sides=(("Initial state.", left.scenes[0]), ("Initial state.", right.scenes[0])),
        )
    ]
    for number, pair in enumerate(comparison.pairs, start=1):
        taken[0] += pair.ours is not None
        taken[1] += pair.theirs is not None
        one, two = describe_pair(comparison, number)
        pairs.append(
            _Pair(
                number=number,
                place="+" if pair.ours is None else str(pair.ours.number),
                kind=pair.how.value,
                is_parting=comparison.parting == number,
                repeats=repeats_after is not None and number > repeats_after,
                sides=((one, left.scenes[taken[0]]), (two, right.scenes[taken[1]])),
            )
        )
    return pairs
