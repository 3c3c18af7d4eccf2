"""Recovery and liveness on graphs whose answers can be read off a sketch."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.engines import WAYS, engine_for
from tests.support.labelled_graph import (
    ALWAYS_EVENTUALLY,
    BACK,
    BACK_BY_ALL,
    BEYOND,
    CLAIMS,
    EVENTUALLY,
    LEADS_TO,
    Edges,
    labelled_problem,
)
from waterline.checker.checking.liveness import judge_behaviours
from waterline.checker.checking.run import Run, run
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import Budgets, search
from waterline.checker.traces.finding import Finding
from waterline.model.core.claim import Behaviour
from waterline.model.core.renaming import CannotRename, Sort

FAIR_A, FAIR_B, FAIR_C, FREE_A, FREE_B = range(5)
LOCAL = EngineChoice(name="local", threads=1)


def judged(claim: Behaviour, edges: Edges, **marked: Collection[int]) -> Run:
    return run(labelled_problem(edges, claims=(claim,), **marked), LOCAL)  # type: ignore[arg-type]


def nodes(finding: Finding) -> list[int]:
    return [state.node for state in finding.replayed.states]


def lasso(done: Run) -> tuple[list[int], int | None]:
    """The nodes of the one counterexample, and after how many steps the cycle begins."""
    [finding] = done.findings
    return nodes(finding), finding.replayed.trace.cycle


def holds(done: Run) -> bool:
    [result] = done.result.invariants
    assert (result.verdict is Verdict.VIOLATED) == bool(done.findings)
    return result.verdict is Verdict.HOLDS


def test_a_state_that_nothing_fair_leaves_is_stayed_in_for_ever() -> None:
    assert lasso(judged(EVENTUALLY, {(0, FREE_A): 1}, q=[1])) == ([0], 0)
    assert holds(judged(EVENTUALLY, {(0, FAIR_A): 1}, q=[1]))


def test_a_step_that_changes_nothing_is_no_step() -> None:
    assert lasso(judged(EVENTUALLY, {(0, FAIR_A): 0}, q=[1])) == ([0], 0)


def test_a_cycle_that_takes_every_fair_step_is_gone_round() -> None:
    round_ = {(0, FREE_A): 1, (1, FAIR_A): 2, (2, FREE_B): 1}

    assert lasso(judged(EVENTUALLY, {**round_, (2, FAIR_A): 1, (0, FAIR_A): 1}, q=[7])) == (
        [0, 1, 2, 1],
        1,
    )


def test_a_fair_step_that_is_enabled_all_around_and_not_taken_leads_out() -> None:
    cycle = {(0, FREE_A): 1, (1, FREE_A): 0, (0, FAIR_A): 2}

    # At node 0 alone it is not enabled always: at node 1 it is not.
    assert lasso(judged(EVENTUALLY, cycle, q=[2])) == ([0, 1, 0], 0)
    assert holds(judged(EVENTUALLY, {**cycle, (1, FAIR_A): 2}, q=[2]))
    assert not holds(judged(EVENTUALLY, {**cycle, (1, FAIR_A): 2, (1, FAIR_B): 0}, q=[7]))


def test_fairness_is_to_each_argument_by_itself() -> None:
    both = {(0, FAIR_A): 1, (1, FAIR_A): 0}

    assert not holds(judged(EVENTUALLY, both, q=[2]))
    assert holds(judged(EVENTUALLY, {**both, (0, FAIR_B): 2, (1, FAIR_B): 2}, q=[2]))


def test_going_round_meets_one_demand_after_the_other() -> None:
    # Each label is taken at one node and enabled at all: the cycle has to come by all of them.
    edges = {
        **{(node, label): 3 for node in (0, 1, 2) for label in (FAIR_A, FAIR_B, FAIR_C)},
        (0, FAIR_A): 1,
        (1, FAIR_B): 2,
        (2, FAIR_C): 0,
    }

    assert lasso(judged(EVENTUALLY, edges, q=[3])) == ([0, 1, 2, 0], 0)


def test_the_prefix_of_eventually_never_meets_it() -> None:
    # The short way to node 3 leads through q.
    edges = {(0, FAIR_A): 1, (1, FAIR_A): 3, (0, FAIR_B): 2, (2, FAIR_A): 4, (4, FAIR_A): 3}

    assert lasso(judged(EVENTUALLY, edges, q=[1])) == ([0, 2, 4, 3], 3)
    assert lasso(judged(ALWAYS_EVENTUALLY, edges, q=[1])) == ([0, 1, 3], 2)


def test_the_prefix_of_leads_to_goes_through_where_it_begins_to_wait() -> None:
    edges = {(0, FAIR_A): 3, (0, FAIR_B): 1, (1, FAIR_A): 2, (2, FAIR_A): 3}

    assert lasso(judged(LEADS_TO, edges, p=[2], q=[7])) == ([0, 1, 2, 3], 3)
    assert lasso(judged(LEADS_TO, edges, p=[2, 3], q=[7])) == ([0, 3], 1)
    assert holds(judged(LEADS_TO, edges, p=[2], q=[3]))
    assert holds(judged(LEADS_TO, edges, p=[2], q=[2]))
    assert holds(judged(LEADS_TO, edges, p=[5], q=[7]))


def test_of_several_initial_states_the_least_that_breaks_it_is_shown() -> None:
    assert lasso(judged(EVENTUALLY, {}, q=[1], initial=[5, 1, 3])) == ([3], 0)
    assert holds(judged(EVENTUALLY, {(3, FAIR_A): 1, (5, FAIR_A): 1}, q=[1], initial=[5, 1, 3]))


def test_a_fair_step_that_a_bound_cuts_is_never_taken_and_always_enabled() -> None:
    done = judged(EVENTUALLY, {(0, FAIR_A): BEYOND}, q=[1])

    assert holds(done)
    assert done.result.invariants[0].unjudged == 1
    around = {(0, FREE_A): 1, (1, FREE_A): 0, (0, FAIR_A): BEYOND}
    # Cut at one of the two nodes, at the other not enabled: to go round is fair.
    assert lasso(judged(EVENTUALLY, around, q=[2])) == ([0, 1, 0], 0)
    everywhere = judged(EVENTUALLY, {**around, (1, FAIR_A): BEYOND}, q=[2])
    assert holds(everywhere)
    assert everywhere.result.invariants[0].unjudged == 2


def test_a_free_step_that_a_bound_cuts_is_nobodys_concern() -> None:
    assert lasso(judged(EVENTUALLY, {(0, FREE_A): BEYOND}, q=[1])) == ([0], 0)


def test_no_way_back_is_shown_at_the_nearest_state_with_what_is_in_the_way() -> None:
    done = judged(BACK, {(0, FREE_A): 1, (1, FAIR_A): 2, (2, FAIR_A): 1, (2, FREE_A): 0}, q=[0])

    [finding] = done.findings
    assert nodes(finding) == [0, 1]
    assert finding.explanation == (
        "node 1. No way back from there: 2 states can be reached, none good."
    )
    assert finding.breaking is not None
    assert finding.breaking.states == 1
    assert holds(judged(BACK_BY_ALL, {(0, FREE_A): 1, (1, FAIR_A): 2, (2, FREE_A): 0}, q=[0]))


def test_nothing_that_is_enabled_is_said_to_be_in_the_way() -> None:
    [finding] = judged(BACK, {(0, FREE_A): 1, (1, FREE_A): 0}, q=[0]).findings

    assert finding.explanation == "node 1. None of these steps is enabled there: Fair."


def test_the_initial_state_may_have_no_way_back() -> None:
    assert nodes(judged(BACK, {}, q=[1]).findings[0]) == [0]


def test_only_where_it_is_claimed_must_there_be_a_way_back() -> None:
    assert holds(judged(BACK, {(0, FAIR_A): 1}, p=[0], q=[0]))
    assert not holds(judged(BACK, {(0, FAIR_A): 1}, p=[0, 1], q=[0]))


def test_a_way_back_that_a_bound_cuts_is_not_judged_and_counted() -> None:
    done = judged(BACK, {(0, FREE_A): 1, (1, FAIR_A): 2, (2, FAIR_B): BEYOND}, q=[0])

    assert holds(done)
    assert done.result.invariants[0].unjudged == 2


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_that_raises_is_an_outcome_of_its_own(claim: Behaviour) -> None:
    with pytest.raises(Raised, match=f"claim {claim.name}: a division by zero"):
        judged(claim, {(0, FAIR_A): 1}, q=[0], poisonous=[1])


def test_a_search_that_stopped_early_says_nothing_of_behaviours() -> None:
    problem = labelled_problem({(0, FAIR_A): 1, (1, FAIR_A): 2}, q=[7])
    done = run(problem, LOCAL, budgets=Budgets(max_depth=1))

    assert {found.verdict for found in done.result.invariants} == {Verdict.INCOMPLETE}
    assert not done.findings


def test_what_does_not_fit_the_memory_is_told_and_nothing_concluded() -> None:
    problem = labelled_problem({(0, FAIR_A): 1}, q=[7])
    with closing(engine_for(problem, "one thread")) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result, memory_bytes=1_000_000)

    assert findings == ()
    assert {found.verdict for found in result.invariants} == {Verdict.INCOMPLETE}
    assert {found.why for found in result.invariants} == {
        "the graph of 1 state and about 1 step takes about 160B more, and --memory is 1.0 MB; "
        "raise it or lower the bounds"
    }
    assert not result.is_judged


def test_a_claim_that_is_not_asked_is_not_judged() -> None:
    problem = replace(labelled_problem({}, q=[7]), asked=frozenset({"back"}))

    assert [found.name for found in run(problem, LOCAL).result.invariants] == ["back"]


def test_a_symmetry_is_refused_where_behaviours_are_asked() -> None:
    problem = labelled_problem({}, q=[7])

    with pytest.raises(CannotRename):
        replace(problem, symmetry=Symmetry("nodes", (Sort("fair"),)))


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_searching_comes_to_the_same_lasso(way: str) -> None:
    edges = {(node, label): (node * 3 + label * 5 + 1) % 8 for node in range(8) for label in (0, 3)}
    problem = labelled_problem(edges, q=[6], p=[2, 3])
    expected = found_by(problem, "one thread")

    assert found_by(problem, way) == expected
    assert any(findings for findings in expected[1])


def found_by(problem: Problem, way: str) -> tuple[list[object], list[object]]:
    with closing(engine_for(problem, way)) as engine:
        result: Result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result)
    return list(result.invariants), [finding.replayed.trace for finding in findings]
