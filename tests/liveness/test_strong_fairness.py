"""Strong fairness: random small graphs against the definition, and two classic models."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

from checker.checking.run import run
from checker.compiler.origins import call_of
from checker.liveness.fairness import FairSteps, Staying, staying
from checker.liveness.lasso import Lasso, lasso_to, waiting
from checker.liveness.space import Space
from checker.problem.problem import Problem
from checker.search.engines.choice import EngineChoice
from checker.search.result import Verdict
from checker.traces.finding import confirmed
from counterexamples import NotACounterexample
from model.core.claim import fair_actions
from model.core.state import State
from tests.liveness.test_by_definition import confirm, space_of_graph
from tests.support.by_definition import ByDefinition, a_graph, problem_of
from tests.support.labelled_graph import FAIR, LABELS, LIVENESS
from tests.support.own import own_problem

GRAPHS = 40
STRONG = (("Fair",), ("Free",), ("Fair", "Free"))

MODELS = Path(__file__).parent / "models"


@pytest.mark.parametrize("strong", STRONG)
def test_random_graphs_are_judged_as_the_definition_says(strong: tuple[str, ...]) -> None:
    violated = changed = unjudged = cycles = parts = 0
    for seed in itertools.islice(seeds_of_large_components(), GRAPHS):
        graph, weak = a_graph(seed, strong), a_graph(seed)
        problem = problem_of(graph)
        space = space_of_graph(graph, problem)
        fair = FairSteps(space, problem.model, fair_actions(problem.model.enabled_actions))
        for number, claim in enumerate(problem.applicable_behaviours):
            if claim not in LIVENESS:
                continue
            when, then = space.truths[2 * number : 2 * number + 2]
            waits = waiting(space, claim.pattern, when, then)
            stays = staying(space, fair, waits.inside)

            found = {node_at(problem, space, int(n)) for n in stays.anywhere.nonzero()[0]}
            expected = graph.staying & {*graph.arrived(claim.name)}
            assert found == expected, (seed, claim.name)
            assert stays.unjudged == graph.left_open(claim.name), (seed, claim.name)

            violated += bool(found)
            changed += expected != weak.staying & {*weak.arrived(claim.name)}
            unjudged += stays.unjudged > 0
            for end in map(int, stays.anywhere.nonzero()[0]):
                lasso = lasso_to(end, space, fair, waits.arrived, stays)
                assert is_fair(graph, problem, space, lasso), (seed, claim.name, end)
                if end == stays.anywhere.argmax():
                    confirm(graph, problem, space, lasso, claim)
                cycles += bool(lasso.cycle)
                parts += is_part(graph, problem, space, stays, end)

    # None of it is vacuous: verdicts of both kinds, cycles, cuts; strong fairness makes a
    # difference, and a part of a component is fair where the whole is not.
    assert 5 < violated < 3 * GRAPHS - 5
    assert min(changed, unjudged, cycles, parts) > 1, (changed, unjudged, cycles, parts)


def seeds_of_large_components() -> Iterator[int]:
    """Of graphs in which something can be taken out of a component, and a cycle be left."""
    for seed in itertools.count():
        if any(len(whole) > 2 for whole in components_without_q(a_graph(seed))):
            yield seed


def components_without_q(graph: ByDefinition) -> list[set[int]]:
    """The strongly connected components of the nodes without q."""
    return list(nx.strongly_connected_components(graph.graph(range(LABELS), without=graph.q)))


def node_at(problem: Problem, space: Space, number: int) -> int:
    return int(State(problem.model.layout, space.words(number)).node)


def is_part(graph: ByDefinition, problem: Problem, space: Space, stays: Staying, end: int) -> bool:
    """Whether the fair component of a state is a part of one of the nodes without q."""
    if stays.stutters[end]:
        return False
    fair = {
        node_at(problem, space, int(n))
        for n in (stays.component == stays.component[end]).nonzero()[0]
    }
    return any(fair < whole for whole in components_without_q(graph))


def is_fair(graph: ByDefinition, problem: Problem, space: Space, lasso: Lasso) -> bool:
    """Judges the steps of a lasso by the graph alone."""
    if not lasso.cycle:
        last = lasso.begins if not lasso.way else int(space.target[lasso.way[-1]])
        nodes, taken = [node_at(problem, space, last)], set[int]()
    else:
        ends = [(int(space.source[edge]), int(space.target[edge])) for edge in lasso.cycle]
        assert all(one[1] == other[0] for one, other in pairwise([*ends, ends[0]]))
        nodes = [node_at(problem, space, source) for source, _ in ends]
        calls = [call_of(problem.model, int(space.step[edge])) for edge in lasso.cycle]
        labels = [label if name == "Fair" else FAIR + label for name, (label,) in calls]
        taken = {*labels}
        goals = [graph.edges[node, label] for node, label in zip(nodes, labels, strict=True)]
        assert goals == [node_at(problem, space, target) for _, target in ends]
    for label in {*range(FAIR), *graph.strong_labels}:
        enabled = [graph.enabled(node, label) for node in nodes]
        demanded = any(enabled) if label in graph.strong_labels else all(enabled)
        if demanded and label not in taken:
            return False
    return True


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("semaphore", "waits_leads_to_is_inside.process0"),
        ("lossy", "always_eventually_has_advanced"),
    ],
)
def test_what_weak_fairness_starves_strong_fairness_serves(
    name: str, claim: str, in_parts: bool
) -> None:
    choice = EngineChoice(name="local", threads=1, in_parts=in_parts)
    weak = run(own_problem(MODELS / f"{name}.py", strongly=False), choice)
    strong = own_problem(MODELS / f"{name}.py", strongly=True)
    done = run(strong, choice)

    assert {each.verdict for each in done.result.invariants} == {Verdict.HOLDS}
    found = next(each for each in weak.findings if each.invariant == claim)
    assert found.replayed.trace.cycle is not None
    # What is no counterexample under strong fairness is refused as one.
    asked = next(each for each in strong.behaviours if each.name == claim)
    with pytest.raises(NotACounterexample, match="again and again, and never is"):
        confirmed(found.replayed.trace, strong.model, asked)
