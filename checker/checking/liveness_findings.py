"""Liveness verdicts with counterexamples, and the check that a graph fits into memory.

The same whether a graph was judged as a whole or in parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from waterline.checker.compiler.origins import call_of
from waterline.checker.liveness.space import EDGES_MAX, bytes_needed
from waterline.checker.problem.wording import quantity, roughly
from waterline.checker.search.engines.process_memory import anonymous_bytes
from waterline.checker.search.fault_count import faults_in_rows
from waterline.checker.search.result import InvariantResult, Verdict
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.finding import Finding, confirm_trace, describe_trapped, finding_at
from waterline.checker.traces.violating_states import Breaking
from waterline.counterexamples import Trapped, trace_of
from waterline.model.core.claim import Behaviour, Recoverable, Temporal, ways_back

if TYPE_CHECKING:
    from waterline.checker.graph.adjacency import Numbers
    from waterline.checker.liveness.lasso import Lasso
    from waterline.checker.liveness.space import Space
    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.engine import Engine
    from waterline.checker.search.result import Result
    from waterline.model.core.transition_system import Model

Judgement: TypeAlias = "tuple[InvariantResult, Finding | None]"
"""The verdict about a claim, and the counterexample to one that is violated."""


class TooLarge(Exception):
    """The graph does not fit the memory; the message says how much it would take."""


@dataclass(frozen=True, slots=True)
class Room:
    """Memory of this process for the graph of a result: `memory_bytes`, if that is limited."""

    problem: Problem
    result: Result
    memory_bytes: int | None

    def steps(self, states: int) -> int:
        """About how many steps leave so many states: as many as any other, on an average."""
        return math.ceil(states * self.result.generated / max(1, self.result.distinct))

    def require(self, states: int, *, beside: int = 0) -> None:
        """Raise `TooLarge` unless a graph of so many states can be judged in memory.

        `beside` is the number of further bytes kept of each.
        """
        steps = self.steps(states)
        graph = f"the graph of {quantity(states, 'state')} and about {quantity(steps, 'step')}"
        if steps > EDGES_MAX:
            raise TooLarge(
                f"{graph} has more steps than can be numbered, {EDGES_MAX:,}; lower the bounds"
            )
        predicates = 2 * len(self.problem.applicable_behaviours)
        needed = bytes_needed(states, steps, self.problem.model.layout.words, predicates)
        needed += states * beside
        if self.memory_bytes is not None and needed + anonymous_bytes() > self.memory_bytes:
            raise TooLarge(
                f"{graph} takes about {roughly(needed)}B more, and --memory is "
                f"{roughly(self.memory_bytes)}B; raise it or lower the bounds"
            )

    def fits(self, states: int, *, beside: int = 0) -> bool:
        """Whether so many states can be judged in memory (see `require`)."""
        try:
            self.require(states, beside=beside)
        except TooLarge:
            return False
        return True


def fault_counts(model: Model, space: Space, states: Numbers) -> Numbers:
    """Return the number of faults before each of these states of a space."""
    rows = np.ascontiguousarray(space.rows[states])
    return faults_in_rows(model, rows).astype(np.int32)


def verdict_holds(claim: Behaviour, unjudged: int) -> Judgement:
    """The judgement of a claim that nothing breaks; `unjudged` states a bound leaves open."""
    return InvariantResult(claim.name, Verdict.HOLDS, unjudged=unjudged), None


def stuck_judged(
    problem: Problem,
    engine: Engine,
    claim: Recoverable,
    breaking: Breaking,
    trapped: Callable[[StateWords], Trapped],
    unjudged: int,
) -> Judgement:
    """The judgement of a claim about recovery that the states of `breaking` break.

    `trapped` says how far one gets from a state that has no way back. `unjudged` is of how many
    more states a bound leaves it open. Raises what `checker.traces.finding.confirm_trace` raises.
    """
    model = problem.model
    path = paths_to_breaking(problem, engine, {claim.name: breaking})[claim.name]
    finding = finding_at(model, claim, path)
    last = finding.replayed.states[-1]
    text = describe_trapped(trapped(last.words), ways_back(claim, model.enabled_actions))
    explained = claim.explain(last, model.settings)
    finding = replace(finding, explanation=f"{explained} {text}", breaking=breaking)
    return _violation(claim, breaking.depth, last.words, unjudged), finding


def lasso_judged(
    problem: Problem, engine: Engine, claim: Temporal, space: Space, lasso: Lasso, unjudged: int
) -> Judgement:
    """The judgement of a claim that a behaviour breaks which goes the way of a lasso in this space.

    `unjudged` is of how many more states a bound leaves it open. Raises what
    `checker.traces.finding.confirm_trace` raises.
    """
    model = problem.model
    depth, words = int(space.depth[lasso.begins]), space.words(lasso.begins)
    begins = Breaking(depth, (words,), 1, None)
    path = paths_to_breaking(problem, engine, {claim.name: begins})[claim.name]
    way, cycle = (
        [call_of(model, int(space.step[edge])) for edge in edges]
        for edges in (lasso.way, lasso.cycle)
    )
    trace = trace_of(
        model,
        claim.name,
        (*path.calls, *way, *cycle),
        initial=path.initial,
        cycle=depth + len(way),
    )
    finding = confirm_trace(trace, model, claim)
    repeats = depth + len(way)
    return _violation(claim, repeats, finding.replayed.states[repeats].words, unjudged), finding


def _violation(
    claim: Behaviour, depth: int, words: tuple[int, ...], unjudged: int
) -> InvariantResult:
    return InvariantResult(claim.name, Verdict.VIOLATED, depth, words, unjudged)
