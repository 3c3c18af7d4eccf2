"""Claims about steps, on graphs whose answers can be read off a sketch, and on a broken Kafka."""

from __future__ import annotations

import dataclasses
import functools
from contextlib import closing
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.engines import WAYS, engine_for
from tests.support.graph_model import CLEAR, LEVEL, NODES, NOT_BAD, graph_problem, node_state
from tests.support.untrue import EVERY_HW
from waterline import invariants
from waterline.checker.checking.run import EngineChoice, Finding, counterexamples_of, run
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.identity import identity_of
from waterline.checker.search.result import InvariantResult, Result, Verdict
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import Budgets, search
from waterline.checker.storage.run_directory import begin, resume
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import NotACounterexample, from_json, to_json
from waterline.invariants import hw_monotone
from waterline.model.core.transition_system import Model
from waterline.model.message.clients import produce
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

NODE = st.integers(0, NODES - 1)
LOCALLY = EngineChoice(name="local", threads=1)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def explored(
    problem: Problem, way: str = "one thread", **budgets: Any
) -> tuple[Result, tuple[Finding, ...]]:
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine, budgets=Budgets(**budgets))
        return result, counterexamples_of(problem, engine, result)


def verdict(result: Result, name: str = "level") -> InvariantResult:
    return next(found for found in result.invariants if found.name == name)


def violated(depth: int, before: int, name: str = "level") -> InvariantResult:
    return InvariantResult(name, Verdict.VIOLATED, depth, node_state(before).words)


def steps(findings: tuple[Finding, ...], name: str = "level") -> list[int]:
    """The nodes that the counterexample of a claim goes to."""
    found = next(finding for finding in findings if finding.invariant == name)
    return [moment.after.node for moment in found.replayed.moments]


def test_what_every_step_keeps_holds(way: str) -> None:
    problem = graph_problem([(0, 1), (1, 2), (2, 0)], steep_from=[0, 2], steep_to=[2])
    result, findings = explored(problem, way)

    assert verdict(result).verdict is Verdict.HOLDS
    assert findings == ()


def test_a_loop_is_a_step(way: str) -> None:
    result, findings = explored(graph_problem([(0, 1), (1, 1)], steep_from=[1], steep_to=[1]), way)

    assert verdict(result) == violated(2, before=1)
    assert steps(findings) == [1, 1]
    assert findings[0].explanation == "1 to 1"


def test_a_step_to_a_state_seen_before_is_a_step(way: str) -> None:
    edges = [(0, 1), (1, 2), (2, 0)]
    result, findings = explored(graph_problem(edges, steep_from=[2], steep_to=[0]), way)

    assert verdict(result) == violated(3, before=2)
    assert steps(findings) == [1, 2, 0]


def test_a_step_out_of_an_initial_state_is_the_first(way: str) -> None:
    problem = graph_problem(
        [(5, 7), (3, 7)], initial=(5, 3), steep_from=[5, 3], steep_to=[7], bad=[7]
    )
    result, findings = explored(problem, way)

    assert verdict(result) == violated(1, before=3)
    assert steps(findings) == [7]
    assert findings[1].replayed.initial == node_state(3)


def test_of_two_at_one_depth_the_least_state_before_wins(way: str) -> None:
    edges = [(0, 9), (0, 4), (9, 1), (4, 20), (4, 12)]
    result, findings = explored(graph_problem(edges, steep_from=[9, 4], steep_to=[1, 12, 20]), way)

    assert verdict(result) == violated(2, before=4)
    assert steps(findings) == [4, 12]


def test_the_least_depth_wins_over_the_least_state(way: str) -> None:
    edges = [(0, 9), (0, 4), (9, 11), (4, 1), (1, 2)]
    result, _ = explored(graph_problem(edges, steep_from=[9, 1], steep_to=[11, 2]), way)

    assert verdict(result) == violated(2, before=9)


def test_of_two_actions_the_first_in_the_table_of_contents_is_in_the_trace() -> None:
    problem = graph_problem([(0, 1), (0, 2)], steep_from=[0], steep_to=[1, 2])
    follow = problem.model.actions[0]
    earlier = dataclasses.replace(follow, name="Earlier")
    contents = ("Earlier", *problem.model.contents)
    model = dataclasses.replace(
        problem.model, actions=(earlier, *problem.model.actions), contents=contents
    )
    _, findings = explored(dataclasses.replace(problem, model=model))

    assert [str(moment) for moment in findings[0].replayed.moments] == ["Earlier(target=1)"]


def test_states_and_steps_have_verdicts_of_their_own_in_one_run(way: str) -> None:
    problem = graph_problem(
        [(0, 1), (1, 2), (2, 3)], bad=[1], worse=[2], steep_from=[2], steep_to=[3]
    )
    result, findings = explored(problem, way)

    assert result.invariants == [
        violated(1, 1, "not_bad"),
        violated(2, 2, "not_worse"),
        violated(3, 2),
        violated(2, 1, "clear"),
    ]
    assert [len(finding.replayed.moments) for finding in findings] == [1, 2, 3, 2]


def test_a_step_beyond_the_bounds_is_not_judged(way: str) -> None:
    problem = graph_problem([(0, 1), (0, 2)], beyond=[1], steep_from=[0], steep_to=[1])

    assert verdict(explored(problem, way)[0]).verdict is Verdict.HOLDS


def test_a_level_that_was_not_expanded_says_nothing_of_its_steps(way: str) -> None:
    problem = graph_problem([(0, 1), (1, 2)], steep_from=[1], steep_to=[2])

    assert verdict(explored(problem, way, max_depth=1)[0]).verdict is Verdict.INCOMPLETE
    assert verdict(explored(problem, way, max_depth=2)[0]) == violated(2, before=1)


def test_stop_at_first_ends_with_the_level_that_the_step_leads_to(way: str) -> None:
    problem = graph_problem([(0, 1), (1, 2), (2, 3)], steep_from=[0], steep_to=[1])
    result, _ = explored(problem, way, stop_at_first=True)

    assert [level.states for level in result.levels] == [1, 1]
    assert verdict(result) == violated(1, before=0)
    assert verdict(result, "clear").verdict is Verdict.INCOMPLETE


def test_a_property_that_is_not_asked_for_is_not_judged_and_counts_stay() -> None:
    problem = graph_problem([(0, 1), (1, 0)], steep_from=[1], steep_to=[0], trips=[0])
    asked = dataclasses.replace(problem, asked=frozenset({"not_bad"}))
    result, findings = explored(asked)

    assert [found.name for found in result.invariants] == ["not_bad"]
    assert findings == ()
    assert (result.distinct, result.generated) == (2, 3)


@pytest.mark.parametrize("name", ["level", "not_bad"])
def test_a_claim_on_request_is_judged_only_where_it_is_named(name: str) -> None:
    problem = dataclasses.replace(
        graph_problem([(0, 1)], bad=[1], steep_from=[0], steep_to=[1]),
        invariants=(dataclasses.replace(NOT_BAD, default=False),),
        properties=(dataclasses.replace(LEVEL, default=False), CLEAR),
    )
    named = dataclasses.replace(problem, asked=frozenset({name}))

    assert [found.name for found in explored(problem)[0].invariants] == ["clear"]
    assert [found.name for found in explored(named)[0].invariants] == [name]
    assert explored(named)[0].violated
    assert {found.name for found in explored(problem.asking_too([name]))[0].invariants} == {
        name,
        "clear",
    }


def test_a_property_of_other_versions_is_not_applicable() -> None:
    other = dataclasses.replace(LEVEL, applies=lambda settings: False)
    problem = graph_problem([(0, 1)], steep_from=[0], steep_to=[1])
    result, _ = explored(dataclasses.replace(problem, properties=(other,)))

    assert verdict(result).verdict is Verdict.NOT_APPLICABLE


def test_a_property_that_raises_is_an_outcome_that_names_it_and_the_step(way: str) -> None:
    problem = graph_problem([(0, 1), (0, 2), (2, 3), (1, 3)], trips=[2, 1])
    says = r"claim level of Follow\(target=3\): a division by zero"
    with pytest.raises(Raised, match=says) as raised:
        run(problem, LOCALLY)

    assert raised.value.state == node_state(1)


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_run_that_is_resumed_comes_to_the_same_step(cut: int, tmp_path: Path) -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (3, 3)]
    problem = graph_problem(edges, bad=[3], worse=[3], steep_from=[2, 3], steep_to=[0, 4])
    location, words = str(tmp_path / "run"), problem.model.layout.words
    with closing(begin(location, identity_of(problem), words)) as directory:
        run(problem, LOCALLY, budgets=Budgets(max_depth=cut), directory=directory)
    with closing(resume(location)) as directory:
        resumed = run(problem, LOCALLY, directory=directory)
    whole = run(problem, LOCALLY)

    assert resumed.result.invariants == whole.result.invariants
    assert verdict(whole.result) == violated(3, before=2)
    assert verdict(whole.result, "clear") == violated(4, 3, "clear")
    assert [to_json(found.replayed.trace) for found in resumed.findings] == [
        to_json(found.replayed.trace) for found in whole.findings
    ]


def test_what_is_checked_is_part_of_what_a_run_is() -> None:
    problem = graph_problem([(0, 1)])
    relaxed = dataclasses.replace(LEVEL, default=False)
    changed = dataclasses.replace(LEVEL, keeps=CLEAR.keeps)

    rules = {
        identity_of(dataclasses.replace(problem, properties=(each, CLEAR)))["rules"]
        for each in (LEVEL, relaxed, changed)
    }

    assert len(rules) == 3


@settings(max_examples=60, deadline=None)
@given(
    edges=st.sets(st.tuples(NODE, NODE), max_size=150),
    initial=st.sets(NODE, min_size=1, max_size=3),
    steep_from=st.sets(NODE, max_size=12),
    steep_to=st.sets(NODE, max_size=12),
    way=st.sampled_from(WAYS),
)
def test_the_first_broken_step_is_that_of_networkx(
    edges: set[tuple[int, int]],
    initial: set[int],
    steep_from: set[int],
    steep_to: set[int],
    way: str,
) -> None:
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from(initial)
    depths = nx.multi_source_dijkstra_path_length(graph, initial, weight=lambda *_: 1)
    broken = [
        (depths[before] + 1, before, after)
        for before, after in edges
        if before in depths and before in steep_from and after in steep_to
    ]

    problem = graph_problem(
        edges, initial=sorted(initial), steep_from=steep_from, steep_to=steep_to
    )
    result, findings = explored(problem, way)

    if not broken:
        assert verdict(result).verdict is Verdict.HOLDS
        return
    depth, before, after = min(broken)
    assert verdict(result) == violated(depth, before)
    assert len(steps(findings)) == depth
    assert steps(findings)[-1] == after
    assert findings[0].replayed.moments[-1].before == node_state(before)


def forgetful_produce(s: Any, c: Any, leader: int) -> None:
    """As `produce`, but the leader forgets how far it had come."""
    produce(s, c, leader)
    s.hw[leader] = 0


def forgetful() -> Model:
    """`hw`, but for one line."""
    few = Environment(records=2, epochs=1, restarts=1, election_order="any")
    model = message_model("hw", few)
    actions = [
        dataclasses.replace(action, effect=forgetful_produce)
        if action.name == "Produce"
        else action
        for action in model.actions
    ]
    return dataclasses.replace(model, actions=tuple(actions))


@functools.cache
def forgetful_run(symmetry: Symmetry) -> tuple[Result, tuple[Finding, ...]]:
    properties = (hw_monotone.CLAIM, EVERY_HW)
    problem = Problem(forgetful(), invariants.ALL, properties=properties, symmetry=symmetry)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)
        return result, counterexamples_of(problem, engine, result)


def test_a_leader_that_forgets_its_high_watermark_is_found_out() -> None:
    result, findings = forgetful_run(Symmetry.NONE)
    found = next(finding for finding in findings if finding.invariant == "hw_monotone")

    assert verdict(result, "hw_monotone").depth == 3
    assert [str(moment) for moment in found.replayed.moments] == [
        "Produce(leader=0)",
        "ShrinkIsr(leader=0, follower=1)",
        "Produce(leader=0)",
    ]
    assert found.explanation == (
        "r0 stays leader of epoch 0, and its high watermark falls from 1 to 0."
    )


def test_its_trace_is_confirmed_when_read_and_shows_nothing_of_the_real_protocol() -> None:
    found = forgetful_run(Symmetry.NONE)[1][-2]
    trace = from_json(to_json(found.replayed.trace))
    real = message_model("hw", Environment.from_options(dict(trace.environment)))

    assert confirm_trace(trace, forgetful(), hw_monotone.CLAIM).explanation == found.explanation
    with pytest.raises(NotACounterexample, match="hw_monotone holds after step 3, the last"):
        confirm_trace(trace, real, hw_monotone.CLAIM)


@pytest.mark.parametrize("symmetry", [Symmetry.REPLICAS, Symmetry.ALL])
def test_a_step_between_representatives_becomes_a_real_one(symmetry: Symmetry) -> None:
    whole, of_whole = forgetful_run(Symmetry.NONE)
    part, of_part = forgetful_run(symmetry)

    assert part.distinct < whole.distinct
    assert [(found.name, found.depth) for found in part.invariants] == [
        (found.name, found.depth) for found in whole.invariants
    ]
    assert [(found.invariant, len(found.replayed.moments)) for found in of_part] == [
        (found.invariant, len(found.replayed.moments)) for found in of_whole
    ]
    assert {"hw_monotone", "every_hw"} <= {found.invariant for found in of_part}
