"""Delta debugging of a walk: fewer steps that end in the same violation.

A walk wanders, so most of its steps are not needed. Steps are left out as long as the claim still
breaks. Then the space is searched breadth-first to that many steps, if a budget allows: what that
finds is shortest, and what it does not find within the levels that it explored is known to take
more steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.problem.problem import Problem
from waterline.checker.traces.finding import Finding, finding_at
from waterline.checker.traces.violating_states import Path
from waterline.counterexamples import Moment, skipping
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

TRIES_MAX = 2_000
"""How many shorter rows of steps are tried for one claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A counterexample, and what is known of shorter ones: none has fewer than `at_least` steps.

    `walked` is how many steps it took in the walk that met it; None where no walk did, and the
    search for shorter ones found it.
    """

    finding: Finding
    walked: int | None
    at_least: int

    @property
    def steps(self) -> int:
        """How many it takes."""
        return len(self.finding.replayed.moments)

    @property
    def is_shortest(self) -> bool:
        """True if none is shorter."""
        return self.steps <= self.at_least


def with_steps_left_out(problem: Problem, claim: Invariant | ActionProperty, path: Path) -> Finding:
    """Shorten a counterexample until no single step can be left out.

    `path` leads to a state that breaks the claim, or that has a step that does. Larger pieces are
    left out first, then smaller ones, each with the later steps that it enabled.
    """
    whole = finding_at(problem.model, claim, path)
    # Without bounds it is a walk within some: there a step means the same whatever was before it.
    model = whole.model
    initial, best, tries = model.initial[path.initial], whole.replayed.moments, 0
    size = max(1, len(best) // 2)
    while size:
        at, before = 0, len(best)
        while at < len(best) and tries < TRIES_MAX:
            tries += 1
            shorter = _as_far_as_it_breaks(model, claim, initial, (*best[:at], *best[at + size :]))
            if shorter is not None:
                best = shorter
            else:
                at += size
        # Leaving out one may be what makes another superfluous.
        size = size // 2 if size > 1 or len(best) == before or tries >= TRIES_MAX else 1
    if isinstance(claim, ActionProperty):
        best = best[:-1]
    return finding_at(
        model, claim, Path(path.initial, tuple((each.action, each.values) for each in best))
    )


def _as_far_as_it_breaks(
    model: Model, claim: Invariant | ActionProperty, state: State, moments: Sequence[Moment]
) -> tuple[Moment, ...] | None:
    """Return the enabled ones of the steps, one after the other, until the claim breaks."""
    taken: list[Moment] = []
    for moment in skipping(moments, model, state):
        taken.append(moment)
        if _breaks(model, claim, moment.before, moment.after):
            return tuple(taken)
    return None


def _breaks(model: Model, claim: Invariant | ActionProperty, before: State, after: State) -> bool:
    if isinstance(claim, ActionProperty):
        return not claim.keeps(before, after, model.settings)
    return not claim.holds(after, model.settings)
