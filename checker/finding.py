"""A counterexample that has been seen to be one: replayed, confirmed and explained.

The same for a trace that a search found and for one that was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterexamples import Replayed, Trace, confirm, confirm_step
from invariants.claim import ActionProperty, Invariant
from model.transition_system import Model


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated claim: a trace to where it breaks, replayed, and what is wrong at its end."""

    invariant: str
    replayed: Replayed
    explanation: str


def confirmed(trace: Trace, model: Model, claim: Invariant | ActionProperty) -> Finding:
    """Replay `trace`; see that its last state, or its last step, is the first to break `claim`.

    Raises `NotACounterexample` otherwise, and whatever `counterexamples.replay` raises.
    """
    settings = model.settings
    if isinstance(claim, Invariant):
        replayed = confirm(trace, model, lambda state: claim.holds(state, settings))
        explanation = claim.explain(replayed.states[-1], settings)
    else:
        replayed = confirm_step(trace, model, lambda s, t: claim.keeps(s, t, settings))
        last = replayed.moments[-1]
        explanation = claim.explain(last.before, last.after, settings)
    return Finding(claim.name, replayed, explanation)
