"""Graphs made by hand have the verdict, the count of open states and the lasso expected."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from tests.support.engines import engine_for
from tests.support.labelled_graph import (
    ALWAYS_EVENTUALLY,
    BACK,
    BEYOND,
    EVENTUALLY,
    LEADS_TO,
    Edges,
    labelled_problem,
)
from waterline.checker.checking.liveness import judge_behaviours
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import search
from waterline.counterexamples import from_json, replay, to_json
from waterline.model.core.claim import Behaviour

FAIR_A, FAIR_B, FAIR_C, FREE_A, FREE_B = range(5)
Judged = tuple[list[Any], list[Any]]


def judged(problem: Problem, way: str) -> Judged:
    """Verdicts, with what is left open; counterexamples, with all that is told of them."""
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result)
    told = [(to_json(f.replayed.trace), f.explanation, f.breaking) for f in findings]
    return list(result.invariants), told


def both_ways(problem: Problem) -> Judged:
    """Verdicts and counterexamples, which are the same from memory and from files."""
    in_memory = judged(problem, "one thread")

    assert judged(problem, "over files") == in_memory
    return in_memory


def verdict(claim: Behaviour, edges: Edges, **marked: Collection[Any]) -> tuple[Verdict, int]:
    """Whether one claim holds, and how many states are left open."""
    problem = labelled_problem(edges, claims=(claim,), **marked)  # type: ignore[arg-type]
    [found], _ = both_ways(problem)
    return found.verdict, found.unjudged


def test_strong_fairness_alone_lets_a_claim_hold() -> None:
    # A strongly fair step leads out of one state of the cycle alone.
    edges = {(0, FREE_A): 1, (1, FREE_A): 2, (2, FREE_A): 0, (1, FAIR_A): 3}
    weak = ("Fair", "Free")

    assert verdict(EVENTUALLY, edges, q=[3], weak=weak) == (Verdict.VIOLATED, 0)
    assert verdict(EVENTUALLY, edges, q=[3], weak=weak, strong=("Fair",)) == (Verdict.HOLDS, 0)


def test_a_fair_way_out_of_a_cycle_lets_a_claim_hold() -> None:
    # A cycle that a fair step leads out of: no part of it is a dead end.
    cycle = {(0, FREE_A): 1, (1, FREE_A): 2, (2, FREE_A): 0}
    out = {(node, FAIR_A): 3 for node in range(3)}

    assert verdict(EVENTUALLY, {**cycle, **out}, q=[3]) == (Verdict.HOLDS, 0)


def test_a_fair_cycle_at_the_end_of_a_chain_violates() -> None:
    chain = {(node, FREE_A): node + 1 for node in range(7)}

    assert verdict(ALWAYS_EVENTUALLY, {**chain, (4, FREE_B): 3}, q=[]) == (Verdict.VIOLATED, 0)


def test_the_way_to_a_cycle_goes_by_the_least_states() -> None:
    # Two ways to node 4: that by node 1 is the one by the least states.
    edges = {
        (0, FREE_A): 2,
        (0, FREE_B): 1,
        (1, FREE_A): 3,
        (2, FREE_A): 3,
        (3, FAIR_A): 4,
        (4, FAIR_A): 5,
        (5, FAIR_A): 4,
    }

    assert verdict(EVENTUALLY, edges, q=[7]) == (Verdict.VIOLATED, 0)
    assert verdict(LEADS_TO, edges, p=[2], q=[7]) == (Verdict.VIOLATED, 0)


def test_the_way_goes_past_a_shorter_one_and_past_lesser_states_that_are_further() -> None:
    # To node 6 there are ways by 4, where q is, by 5 and 7, and by 2, 3 and 1.
    ways = [(0, 4, 6), (0, 5, 7, 6), (0, 2, 3, 1, 6)]
    labels = {(0, 4): FREE_A, (0, 5): FREE_B}
    edges = {(at, labels.get((at, to), FAIR_A)): to for way in ways for at, to in pairwise(way)}
    problem = labelled_problem(edges, claims=(EVENTUALLY,), q=[4])

    _, [(trace, _, _)] = both_ways(problem)
    replayed = replay(from_json(trace), problem.model)

    assert [state.node for state in replayed.states] == [0, 5, 7, 6]


def test_a_fair_step_that_changes_nothing_is_neither_enabled_nor_a_way_on() -> None:
    cycle = {(0, FREE_A): 1, (1, FREE_A): 0, (0, FAIR_A): 2, (1, FREE_B): 3}
    loops = {(1, FAIR_A): 1, (3, FAIR_B): 3, (3, FREE_A): 3}

    assert verdict(ALWAYS_EVENTUALLY, {**cycle, **loops}, q=[2]) == (Verdict.VIOLATED, 0)


def test_a_state_that_only_a_cut_step_leaves_open_counts_wherever_it_is() -> None:
    # Node 1 is a dead end but for what is cut, node 2 and 3 go round past what is cut.
    edges = {
        (0, FREE_A): 1,
        (1, FAIR_A): BEYOND,
        (0, FREE_B): 2,
        (2, FREE_A): 3,
        (3, FREE_A): 2,
        (2, FAIR_B): BEYOND,
        (3, FAIR_B): BEYOND,
        (0, FAIR_A): 1,
    }

    assert verdict(EVENTUALLY, edges, q=[7]) == (Verdict.HOLDS, 3)


def test_a_state_that_a_cut_step_leaves_open_hides_none_in_which_a_behaviour_stays() -> None:
    # Nobody knows what comes of node 0; in node 1 nothing comes any more.
    edges = {(0, FAIR_A): BEYOND, (0, FREE_A): 1}

    assert verdict(EVENTUALLY, edges, q=[]) == (Verdict.VIOLATED, 1)


def test_of_two_ends_as_near_the_one_in_which_nothing_happens_is_shown() -> None:
    # Behaviours go round between nodes 1 and 3, and stay in node 2.
    edges = {(0, FAIR_A): 1, (0, FAIR_B): 2, (1, FAIR_A): 3, (3, FAIR_A): 1}
    _, [(trace, explanation, _)] = both_ways(labelled_problem(edges, claims=(EVENTUALLY,), q=[]))

    assert explanation.startswith("node 2.")
    assert from_json(trace).cycle == 1


def test_a_step_that_is_not_taken_back_does_not_lead_back() -> None:
    edges = {(0, FREE_A): 1, (1, FAIR_A): 2, (2, FAIR_A): 1, (2, FREE_A): 0, (0, FAIR_B): 3}

    assert verdict(BACK, edges, q=[0, 3]) == (Verdict.VIOLATED, 0)
    assert verdict(BACK, {**edges, (2, FAIR_B): BEYOND}, q=[0, 3]) == (Verdict.HOLDS, 2)


def test_one_step_may_lead_to_many_owners_and_many_to_one() -> None:
    edges = {(node, label): (node * 3 + label * 5 + 1) % 8 for node in range(8) for label in (0, 3)}

    _, told = both_ways(labelled_problem(edges, q=[6], p=[2, 3]))

    assert told


def test_a_claim_that_raises_raises() -> None:
    problem = labelled_problem({(0, FAIR_A): 1}, q=[0], poisonous=[1])

    with pytest.raises(ModelFault):
        judged(problem, "over files")


@pytest.mark.parametrize("way", ["one thread", "over files", "handed over"])
def test_a_graph_that_does_not_fit_the_memory_is_incomplete_and_the_remedy_is_named(
    way: str,
) -> None:
    problem = labelled_problem({(0, FREE_A): 1, (1, FAIR_A): 2, (0, FAIR_A): 2}, q=[2])
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result, memory_bytes=1_000_000)

    assert not findings
    assert {found.verdict for found in result.invariants} == {Verdict.INCOMPLETE}
    assert "takes about" in result.invariants[0].why
    assert all(
        found.why.endswith("--memory is 1.0 MB; raise it or lower the bounds")
        for found in result.invariants
    )
