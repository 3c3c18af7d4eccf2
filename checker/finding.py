"""A counterexample that has been seen to be one: replayed, confirmed and explained.

The same for a trace that a search found and for one that was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.fault_count import faults_in
from checker.faults import Disagreement
from checker.problems.family import words_of
from checker.problems.problem import Problem
from counterexamples import NO_CLAIM, Replayed, Trace, confirm, confirm_step, replay, trace_of
from model.kit.claim import ActionProperty, Invariant
from model.kit.state import State
from model.kit.transition_system import Arguments, Model

if TYPE_CHECKING:
    from checker.breaking import Breaking
    from checker.paths import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated claim: a trace to where it breaks, replayed in `model`, and what is wrong.

    `breaking` says what a search knows beside that: how many states break it at this depth.
    """

    invariant: str
    sentence: str
    replayed: Replayed
    explanation: str
    model: Model = field(repr=False, compare=False)
    breaking: Breaking | None = None


def finding_at(model: Model, claim: Invariant | ActionProperty, path: Path) -> Finding:
    """The counterexample that `path` is, or, for a property, that ends a step behind it.

    Raises as `confirmed` does, and `Disagreement`.
    """
    trace = trace_of(model, claim.name, path.calls, initial=path.initial)
    if isinstance(claim, ActionProperty):
        before = replay(trace, model).states[-1]
        calls = (*path.calls, _breaking_call(model, before, claim))
        trace = trace_of(model, claim.name, calls, initial=path.initial)
    return confirmed(trace, model, claim)


def _breaking_call(model: Model, before: State, claim: ActionProperty) -> tuple[str, Arguments]:
    """Of the steps out of `before` that break the claim the first with the fewest faults.

    The first in the table of contents, then by its arguments.
    """
    breaking = [
        step
        for step in model.successors(before)
        if not claim.keeps(before, step.after, model.settings)
    ]
    if breaking:
        step = min(breaking, key=lambda step: faults_in(model, step.after))
        return step.action.name, step.arguments
    raise Disagreement(f"compiled, a step out of {before} breaks {claim.name}; interpreted, none")


def confirmed(trace: Trace, model: Model, claim: Invariant | ActionProperty) -> Finding:
    """Replay `trace`; see that its last state, or its last step, is the first to break `claim`.

    Raises `NotACounterexample` otherwise, and whatever `counterexamples.replay` raises. Of a trace
    that claims nothing (`NO_CLAIM`) nothing is to be seen but that it can be replayed.
    """
    settings = model.settings
    if trace.invariant == NO_CLAIM:
        return Finding(NO_CLAIM, claim.sentence, replay(trace, model), "", model)
    if isinstance(claim, Invariant):
        replayed = confirm(trace, model, lambda state: claim.holds(state, settings))
        explanation = claim.explain(replayed.states[-1], settings)
    else:
        replayed = confirm_step(trace, model, lambda s, t: claim.keeps(s, t, settings))
        last = replayed.moments[-1]
        explanation = claim.explain(last.before, last.after, settings)
    return Finding(claim.name, claim.sentence, replayed, explanation, model)


def trace_name(problem: Problem, invariant: str) -> str:
    """`hw-no_committed_loss-2r2n2e.json`: version, claim, bounds; before it a grain's name."""
    words, model = words_of(problem), problem.model
    told = (f"{words.prefix}{model.version}", invariant, words.letters(model))
    return "-".join(part for part in told if part) + ".json"
