"""A comparison as plain values, for JSON: format waterline-comparison/1."""

from __future__ import annotations

from typing import Any

from waterline.checker.analysis.compare.comparison import (
    Comparison,
    End,
    describe_changes,
)
from waterline.checker.problem.problem import Problem
from waterline.counterexamples import Moment
from waterline.model.core.state import State

FORMAT = "waterline-comparison/1"


def comparison_value(comparison: Comparison) -> dict[str, Any]:
    """All of it: both sides, every pair with both states, where they part, how each ends."""
    left, right = comparison.left, comparison.right
    return {
        "format": FORMAT,
        "model": left.model.name,
        "invariant": comparison.replayed.trace.invariant,
        "left": _side(left, comparison.ends.left),
        "right": _side(right, comparison.ends.right),
        "changes": list(describe_changes(left.model, right.model)),
        "initial": _states(comparison, 0),
        "pairs": [
            {
                "step": None if pair.ours is None else pair.ours.number,
                "how": pair.how.value,
                "why": pair.why,
                "left": _step(left, pair.ours),
                "right": _step(right, pair.theirs),
                "states": _states(comparison, number),
            }
            for number, pair in enumerate(comparison.pairs, start=1)
        ],
        "first_seen": comparison.first_seen,
        "parting": comparison.parting,
        "repeats_after": comparison.ends.repeats_after,
    }


def _side(problem: Problem, end: End) -> dict[str, Any]:
    return {
        "protocol": problem.model.version,
        "bounds": dict(problem.model.options),
        "applies": end.applies,
        "judged": end.is_judged,
        "broken_at": end.broken_at,
        "explanation": end.explanation or None,
    }


def _step(problem: Problem, moment: Moment | None) -> dict[str, Any] | None:
    if moment is None:
        return None
    return {
        "action": moment.action,
        "arguments": dict(moment.arguments),
        "sentence": moment.sentence(problem.model.narration),
    }


def _states(comparison: Comparison, number: int) -> dict[str, Any]:
    ours, theirs = comparison.states_after(number)
    return {
        "left": _state(comparison.left, ours),
        "right": _state(comparison.right, theirs),
        "differences": [
            {"whose": d.whose, "what": d.what, "left": d.left, "right": d.right}
            for d in comparison.differences_after(number)
        ],
    }


def _state(problem: Problem, state: State) -> dict[str, Any]:
    narration = problem.model.narration
    return {"rows": narration.rows(state), "summary": dict(narration.summary(state))}
