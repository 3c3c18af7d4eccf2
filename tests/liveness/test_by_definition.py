"""Random small graphs: what the checker says of them is what the definitions say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from tests.support.by_definition import Answer, ByDefinition, a_graph, problem_of
from tests.support.labelled_graph import (
    CLAIMS,
    FAIR,
    LABELS,
    LIVENESS,
    node_state,
)
from waterline.checker.checking.run import run
from waterline.checker.compiler.origins import call_of
from waterline.checker.graph.adjacency import Mask
from waterline.checker.liveness.fairness import FairSteps, staying
from waterline.checker.liveness.lasso import Lasso, Ways, lasso_in, waiting
from waterline.checker.liveness.space import Gatherer, Space, space_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import trace_of
from waterline.model.core.claim import Recoverable, Temporal, ways_back
from waterline.model.core.state import State

SOME = 12
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


Fairness = tuple[tuple[str, ...], tuple[str, ...]]
"""The actions that are weakly fair, and those that are strongly fair."""
WEAK: Fairness = (("Fair",), ())
BOTH: Fairness = (("Fair",), ("Free",))
STRONG: Fairness = ((), ("Fair",))


def assert_judged_as_the_definitions_say(fairness: Fairness, graphs: int) -> None:
    violated = dict.fromkeys((claim.name for claim in CLAIMS), 0)
    cycles = unjudged = 0
    for seed in range(graphs):
        graph = a_graph(seed, weak=fairness[0], strong=fairness[1])
        problem = problem_of(graph)
        space = space_of_graph(graph, problem)
        fair = FairSteps(space, problem.model)
        for number, claim in enumerate(CLAIMS):
            when, other = space.truths[2 * number : 2 * number + 2]
            if isinstance(claim, Recoverable):
                found = recovery(problem, space, claim, when, other)
                labels = range(LABELS) if claim.by else graph.fair_labels
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
    assert all(graphs // 20 < count < graphs * 19 // 20 for count in violated.values()), violated
    assert cycles > graphs // 20
    assert unjudged > graphs // 20


@pytest.mark.parametrize("fairness", [WEAK, BOTH, STRONG])
def test_random_graphs_are_judged_as_the_definitions_say(fairness: Fairness) -> None:
    assert_judged_as_the_definitions_say(fairness, 80)


def test_strong_fairness_takes_cycles_away_and_leaves_parts_of_components() -> None:
    """What the graphs above are for does occur among them."""
    fewer = parts = 0
    for seed in range(400):
        weakly = a_graph(seed).staying
        strongly = a_graph(seed, weak=STRONG[0], strong=STRONG[1])
        assert strongly.staying <= weakly
        fewer += strongly.staying < weakly
        whole = strongly.graph(range(LABELS), without=strongly.q)
        components = nx.strongly_connected_components(whole)
        parts += any(
            len(part & strongly.staying) > 1 and part - strongly.staying for part in components
        )

    assert fewer > 10
    assert parts > 3


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
    confirm_trace(trace_of(model, claim.name, calls, initial=first, cycle=cycle), model, claim)
    assert_fair(graph, problem, space, lasso)
    return cycle


def assert_fair(graph: ByDefinition, problem: Problem, space: Space, lasso: Lasso) -> None:
    """As the definitions have it, without anything that confirms traces."""
    last = int(space.target[lasso.way[-1]]) if lasso.way else lasso.begins
    steps = []
    for edge in lasso.cycle:
        name, (label,) = call_of(problem.model, int(space.step[edge]))
        node = State(problem.model.layout, space.words(int(space.source[edge]))).node
        steps.append((node, label if name == "Fair" else FAIR + label))
    if steps:
        assert graph.is_fair_round(steps), (graph, steps)
    else:
        node = State(problem.model.layout, space.words(last)).node
        assert not any(graph.enabled(node, label) for label in graph.fair_labels)


def assert_a_run_says_the_same(seed: int) -> None:
    weak, strong = WEAK if seed % 4 else BOTH
    graph = a_graph(10_000 + seed, weak=weak, strong=strong)
    done = run(problem_of(graph), EngineChoice(name="local", threads=1))

    expected = {claim.name: graph.liveness(claim.name) for claim in LIVENESS}
    expected["back"] = graph.recovery(graph.fair_labels)
    expected["back_by_all"] = graph.recovery(range(LABELS))
    found = {r.name: Answer(r.verdict is Verdict.VIOLATED, r.depth) for r in done.result.invariants}
    assert found == expected
    assert {finding.invariant for finding in done.findings} == {
        name for name, answer in expected.items() if answer.violated
    }


@pytest.mark.parametrize("seed", range(SOME))
def test_a_run_says_the_same_and_confirms_it(seed: int) -> None:
    assert_a_run_says_the_same(seed)
