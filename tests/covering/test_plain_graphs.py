"""`waterline.graph`: the states and steps of the search, as plain values."""

from __future__ import annotations

import pytest

import waterline
from tests.support.live import live
from tests.support.own import EXAMPLES, example
from waterline.model.core.transition_system import Model


@pytest.fixture(scope="module")
def leases() -> waterline.Model:
    return live(EXAMPLES / "fenced_lease.py")


@pytest.fixture(scope="module")
def graph(leases: waterline.Model) -> waterline.Graph:
    return waterline.graph(leases.function, leases=2)


def test_it_is_the_graph_that_the_interpreted_model_makes(graph: waterline.Graph) -> None:
    packed, shown = graph._graph, graph.to_networkx()
    ends = list(zip(packed.source.tolist(), packed.target.tolist(), strict=True))
    steps = {
        (packed.state(before), *packed.call(edge), packed.state(after))
        for edge, (before, after) in enumerate(ends)
    }
    states = [graph.state(number) for number in range(graph.states)]

    assert len(steps) == graph.transitions
    assert steps == interpreted(example("fenced_lease", leases=2).model)
    assert sorted(shown.edges()) == sorted(ends)
    assert [state for _, state in shown.nodes(data="state")] == states


def interpreted(model: Model) -> set[tuple[object, ...]]:
    """Every step of the rules as Python runs them: a reference that knows nothing of the search."""
    steps, reached, left = set(), set(model.initial), list(model.initial)
    while left:
        before = left.pop()
        for step in model.successors(before):
            steps.add((before, step.action.name, step.arguments, step.after))
            if step.after not in reached:
                reached.add(step.after)
                left.append(step.after)
    return steps


def test_every_path_of_a_cover_is_one_in_plain_python(graph: waterline.Graph) -> None:
    paths = graph.paths(cover="states")

    reached = set()
    for path in paths:
        state = path.initial
        assert state in waterline.initials(graph.model)
        for step in path:
            state = waterline.step(state, step.action, **step.arguments)
            assert state == step.after
            reached.add(state)
    assert len(reached) == graph.states - 1
    assert paths.steps == sum(map(len, paths))


def test_numbers_lead_to_plain_values_and_back(graph: waterline.Graph) -> None:
    for number in (0, 7, graph.transitions - 1):
        step = graph.step(number)

        assert graph.transition(int(graph.source[number]), step) == number
        assert step.after == graph.state(int(graph.target[number]))
    deepest = graph.states - 1
    assert len(graph.shortest(deepest)) == graph.depth[deepest]
    assert graph.shortest(deepest).trace.states[-1] == graph.state(deepest)
    assert graph.state(int(graph.initial[0])) == waterline.initial(graph.model)


def test_numbers_that_are_none_are_refused(graph: waterline.Graph) -> None:
    with pytest.raises(IndexError, match=f"no state {graph.states}: they are 0 to"):
        graph.state(graph.states)
    with pytest.raises(IndexError, match="no transition -1"):
        graph.step(-1)
    with pytest.raises(TypeError, match="has its bounds already"):
        waterline.graph(graph.model, leases=3)


def test_without_bounds_its_values_are_those_of_the_abstraction(leases: waterline.Model) -> None:
    endless = waterline.graph(leases.function, unbounded=True)

    states = {endless.state(number) for number in range(endless.states)}
    arguments = {step.arguments.get("lease") for step in map(endless.step, range(40))}

    assert len(states) == endless.states == waterline.check(leases, unbounded=True).distinct
    assert None in arguments
    assert len(arguments) > 1
