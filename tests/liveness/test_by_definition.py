"""Random small graphs: what the checker says of them is what the definitions say."""

from __future__ import annotations

import numpy as np
import pytest

from checker.checking.run import run
from checker.compiler.origins import call_of
from checker.liveness.adjacency import Mask
from checker.liveness.fairness import FairSteps, staying
from checker.liveness.lasso import Lasso, lasso_in, waiting
from checker.liveness.recovery import Ways
from checker.liveness.space import Gatherer, Space, space_of
from checker.problem.problem import Problem
from checker.search.engines.choice import EngineChoice
from checker.search.result import Verdict
from checker.traces.finding import confirmed
from counterexamples import trace_of
from model.core.claim import Recoverable, Temporal, fair_actions, ways_back
from model.core.state import State
from tests.support.by_definition import Answer, ByDefinition, a_graph, problem_of
from tests.support.labelled_graph import (
    CLAIMS,
    FAIR,
    LABELS,
    LIVENESS,
    node_state,
)

GRAPHS = 1000
SOME = 40
"""So many are searched as a user would have it; of the others only the graph is judged."""


def space_of_graph(graph: ByDefinition, problem: Problem) -> Space:
    """The graph as a search would leave it."""
    reached, gather = graph.reachable, Gatherer(problem)
    levels = [
        np.array([node_state(n).words for n in reached if reached[n] == depth], np.uint64)
        for depth in range(max(reached.values()) + 1)
    ]
    return space_of(problem, [(depth, gather(level)) for depth, level in enumerate(levels)])


def no_faults(states: np.ndarray) -> np.ndarray:
    return np.zeros(len(states), np.int32)


def test_random_graphs_are_judged_as_the_definitions_say() -> None:
    violated = dict.fromkeys((claim.name for claim in CLAIMS), 0)
    cycles = unjudged = 0
    for seed in range(GRAPHS):
        graph = a_graph(seed)
        problem = problem_of(graph)
        space = space_of_graph(graph, problem)
        fair = FairSteps(space, problem.model, fair_actions(problem.model.enabled_actions))
        for number, claim in enumerate(CLAIMS):
            when, other = space.truths[2 * number : 2 * number + 2]
            if isinstance(claim, Recoverable):
                found = recovery(problem, space, claim, when, other)
                labels = range(LABELS if claim.by else FAIR)
                expected = graph.recovery(labels)
            else:
                lasso, left = liveness(space, fair, claim, when, other)
                expected = graph.liveness(claim.name)
                found = Answer(False)
                assert left == graph.left_open(claim.name), (seed, claim.name)
                unjudged += left > 0
                cycles += lasso is not None and bool(lasso.cycle)
                if lasso is not None:
                    found = Answer(True, confirm(graph, problem, space, lasso, claim))
            assert found == expected, (seed, claim.name)
            violated[claim.name] += found.violated

    # None of it is vacuous: each verdict comes out often, and so do cycles and what is cut.
    assert all(GRAPHS // 20 < count < GRAPHS * 19 // 20 for count in violated.values()), violated
    assert cycles > 100
    assert unjudged > 100


def recovery(problem: Problem, space: Space, claim: Recoverable, when: Mask, good: Mask) -> Answer:
    by = ways_back(claim, problem.model.enabled_actions)
    stuck = Ways(space, problem.model, by).recovery(good, when).stuck
    return Answer(bool(len(stuck)), int(space.depth[stuck].min()) if len(stuck) else None)


def liveness(
    space: Space, fair: FairSteps, claim: Temporal, when: Mask, then: Mask
) -> tuple[Lasso | None, int]:
    waits = waiting(space, claim.pattern, when, then)
    stays = staying(space, fair, waits.inside)
    lasso = lasso_in(space, fair, waits, stays, no_faults)
    return lasso, stays.unjudged


def confirm(
    graph: ByDefinition, problem: Problem, space: Space, lasso: Lasso, claim: Temporal
) -> int:
    """Through the interpreted model, as every trace is; returns where the cycle begins."""
    model = problem.model
    begins = State(model.layout, space.words(lasso.begins)).node
    initial, steps = graph.way_to(begins)
    calls = [("Fair", (label,)) if label < FAIR else ("Free", (label - FAIR,)) for label in steps]
    calls += [call_of(model, int(space.step[edge])) for edge in (*lasso.way, *lasso.cycle)]
    first = list(graph.initial).index(initial)
    cycle = len(steps) + len(lasso.way)
    confirmed(trace_of(model, claim.name, calls, initial=first, cycle=cycle), model, claim)
    return cycle


@pytest.mark.parametrize("seed", range(SOME))
def test_a_run_says_the_same_and_confirms_it(seed: int) -> None:
    graph = a_graph(10_000 + seed)
    done = run(problem_of(graph), EngineChoice(name="local", threads=1))

    expected = {claim.name: graph.liveness(claim.name) for claim in LIVENESS}
    expected["back"] = graph.recovery(range(FAIR))
    expected["back_by_all"] = graph.recovery(range(LABELS))
    found = {r.name: Answer(r.verdict is Verdict.VIOLATED, r.depth) for r in done.result.invariants}
    assert found == expected
    assert {finding.invariant for finding in done.findings} == {
        name for name, answer in expected.items() if answer.violated
    }
