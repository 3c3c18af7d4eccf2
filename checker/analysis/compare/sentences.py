"""Sentences about how both sides of a comparison end, for screen and page."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.checker.analysis.compare.comparison import Comparison
from waterline.checker.analysis.compare.ends import End
from waterline.counterexamples import NO_CLAIM, Moment
from waterline.counterexamples.protocols import Narration


@dataclass(frozen=True, slots=True)
class EndText:
    """How a side ends. `is_broken` is None where nothing is claimed, or the claim is not judged."""

    sentence: str
    is_broken: bool | None


def describe(narration: Narration, moment: Moment) -> str:
    """A step in the words of its side."""
    return narration.sentence(moment.action, moment.values, moment.before, moment.after)


def describe_ends(comparison: Comparison) -> tuple[EndText, EndText]:
    """Both ends, the left one first."""
    ends = comparison.ends
    return _describe_end(comparison, ends.left), _describe_end(comparison, ends.right)


def _describe_end(comparison: Comparison, end: End) -> EndText:
    claim = comparison.replayed.trace.invariant
    if claim == NO_CLAIM:
        return EndText("no claim is asked.", None)
    if not end.applies:
        return EndText(f"has nothing that {claim} is about.", None)
    if not end.is_judged:
        command = comparison.right.to_command()
        return EndText(
            f"{claim} is about all that can follow and is not judged here; see "
            f"{command} --invariant {claim}",
            None,
        )
    if end.broken_at is None:
        return EndText(f"{claim} holds all the way.", False)
    return EndText(f"{claim} is broken {comparison.at(end.broken_at)}. {end.explanation}", True)
