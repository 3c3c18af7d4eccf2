"""Judged in parts a graph comes to what it comes to as a whole: verdicts, counts, lassos."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.by_definition import a_graph, problem_of
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
from tests.support.own import example
from waterline.checker.checking.liveness_in_memory import judge_behaviours
from waterline.checker.liveness.external import owcty
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.answers import ModelFault
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import search
from waterline.counterexamples import from_json, replay, to_json
from waterline.model.core.claim import Behaviour

FAIR_A, FAIR_B, FAIR_C, FREE_A, FREE_B = range(5)
Judged = tuple[list[Any], list[Any]]


def judged(problem: Problem, way: str, *, in_parts: bool = False) -> Judged:
    """Verdicts, with what is left open; counterexamples, with all that is told of them."""
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result, in_parts=in_parts)
    told = [(to_json(f.replayed.trace), f.explanation, f.breaking) for f in findings]
    return list(result.invariants), told


def both_ways(problem: Problem) -> Judged:
    """What a graph comes to in parts, which is what it comes to as a whole."""
    whole = judged(problem, "one thread")
    in_parts = judged(problem, "over files", in_parts=True)

    assert in_parts == whole
    return in_parts


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states were left of each claim about liveness that was judged in parts."""
    seen: list[int] = []
    left_of = owcty.left_of

    def noted(*given: Any) -> owcty.Left:
        found = left_of(*given)
        seen.append(found.states)
        return found

    monkeypatch.setattr("waterline.checker.checking.liveness_external.left_of", noted)
    return seen


def verdict(claim: Behaviour, edges: Edges, **marked: Collection[Any]) -> tuple[Verdict, int]:
    """Whether one claim holds, and how many states are left open."""
    problem = labelled_problem(edges, claims=(claim,), **marked)  # type: ignore[arg-type]
    [found], _ = both_ways(problem)
    return found.verdict, found.unjudged


@pytest.mark.parametrize("seed", range(3))
def test_a_random_graph_is_judged_in_parts_as_it_is_as_a_whole(seed: int) -> None:
    results, _ = both_ways(problem_of(a_graph(seed)))

    assert len(results) > 3


def test_nothing_is_left_of_a_claim_that_only_strong_fairness_lets_hold(left: list[int]) -> None:
    # A strongly fair step leads out of one state of the cycle alone.
    edges = {(0, FREE_A): 1, (1, FREE_A): 2, (2, FREE_A): 0, (1, FAIR_A): 3}
    weak = ("Fair", "Free")

    assert verdict(EVENTUALLY, edges, q=[3], weak=weak) == (Verdict.VIOLATED, 0)
    assert verdict(EVENTUALLY, edges, q=[3], weak=weak, strong=("Fair",)) == (Verdict.HOLDS, 0)
    assert left == [3, 0]


def test_nothing_is_left_of_a_claim_that_holds(left: list[int]) -> None:
    # A cycle that a fair step leads out of: no part of it is a dead end.
    cycle = {(0, FREE_A): 1, (1, FREE_A): 2, (2, FREE_A): 0}
    out = {(node, FAIR_A): 3 for node in range(3)}

    assert verdict(EVENTUALLY, {**cycle, **out}, q=[3]) == (Verdict.HOLDS, 0)
    assert left == [0]


def test_a_fair_cycle_is_left_and_nothing_that_leads_to_it_or_on_from_it(left: list[int]) -> None:
    chain = {(node, FREE_A): node + 1 for node in range(7)}

    assert verdict(ALWAYS_EVENTUALLY, {**chain, (4, FREE_B): 3}, q=[]) == (Verdict.VIOLATED, 0)
    assert left == [2]


def test_the_way_to_a_cycle_goes_through_states_that_were_taken_away(left: list[int]) -> None:
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
    assert left == [2, 2]


def test_the_way_goes_past_a_shorter_one_and_past_lesser_states_that_are_further(
    left: list[int],
) -> None:
    # To node 6 there are ways by 4, where q is, by 5 and 7, and by 2, 3 and 1.
    ways = [(0, 4, 6), (0, 5, 7, 6), (0, 2, 3, 1, 6)]
    labels = {(0, 4): FREE_A, (0, 5): FREE_B}
    edges = {(at, labels.get((at, to), FAIR_A)): to for way in ways for at, to in pairwise(way)}
    problem = labelled_problem(edges, claims=(EVENTUALLY,), q=[4])

    _, [(trace, _, _)] = both_ways(problem)
    replayed = replay(from_json(trace), problem.model)

    assert [state.node for state in replayed.states] == [0, 5, 7, 6]
    assert left == [0]


def test_a_fair_step_that_changes_nothing_is_neither_enabled_nor_a_way_on(left: list[int]) -> None:
    cycle = {(0, FREE_A): 1, (1, FREE_A): 0, (0, FAIR_A): 2, (1, FREE_B): 3}
    loops = {(1, FAIR_A): 1, (3, FAIR_B): 3, (3, FREE_A): 3}

    assert verdict(ALWAYS_EVENTUALLY, {**cycle, **loops}, q=[2]) == (Verdict.VIOLATED, 0)
    assert left == [2]


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


def test_more_fair_steps_than_travel_at_once_are_met_a_few_at_a_time(
    left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owcty, "BITS", 1)
    # Each cycle lacks one of the three steps; the last has a state that enables none.
    edges = {(node, label): 7 for node in range(6) for label in (FAIR_A, FAIR_B, FAIR_C)}
    cycles = {(at, FREE_A): at ^ 1 for at in range(6)}
    taken = {(0, FAIR_A): 1, (1, FAIR_B): 0, (2, FAIR_B): 3, (3, FAIR_C): 2}
    del edges[4, FAIR_A], edges[4, FAIR_B], edges[4, FAIR_C]
    whole = {**edges, **cycles, **taken, (7, FREE_A): 6}
    problem = labelled_problem(whole, q=[6, 7], initial=range(6), claims=(EVENTUALLY,))

    [found], _ = both_ways(problem)

    assert found.verdict is Verdict.VIOLATED
    assert left == [2]


def test_one_step_may_lead_to_many_owners_and_many_to_one() -> None:
    edges = {(node, label): (node * 3 + label * 5 + 1) % 8 for node in range(8) for label in (0, 3)}

    _, told = both_ways(labelled_problem(edges, q=[6], p=[2, 3]))

    assert told


def test_an_example_with_many_states_is_judged_in_parts(left: list[int]) -> None:
    both_ways(example("philosophers", tie_break=False))
    results, told = both_ways(example("philosophers"))

    assert not all(left)
    assert told
    assert Verdict.HOLDS in {result.verdict for result in results}


def test_what_is_done_again_changes_nothing_and_no_file_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of(a_graph(12))
    over, folders = FileEngine.over, set[Path]()

    def twice(self: FileEngine, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """As Spark does with a task whose machine was lost when it had ended."""
        folders.add(Path(self.levels.storage.location) / self.levels.work)
        list(over(self, items, work))
        assert any("behaviours" in path.name for folder in folders for path in folder.iterdir())
        yield from over(self, items, work)

    monkeypatch.setattr(FileEngine, "over", twice)
    with closing(engine_for(problem, "over files")) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result, in_parts=True)
        [folder] = folders
        left = [path for path in folder.rglob("*") if "behaviours" in path.parts]

    whole, told = judged(problem, "one thread")
    assert result.invariants == whole
    assert [to_json(found.replayed.trace) for found in findings] == [trace for trace, *_ in told]
    assert told
    assert not left


def test_a_claim_that_raises_raises_in_parts() -> None:
    problem = labelled_problem({(0, FAIR_A): 1}, q=[0], poisonous=[1])

    with pytest.raises(ModelFault):
        judged(problem, "over files", in_parts=True)


@pytest.mark.parametrize("way", ["over files", "handed over"])
def test_what_does_not_fit_the_memory_is_judged_in_parts(way: str) -> None:
    problem = labelled_problem({(0, FREE_A): 1, (1, FAIR_A): 2, (0, FAIR_A): 2}, q=[2])
    said: list[str] = []
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        judge_behaviours(problem, engine, result, memory_bytes=1_000_000, announce=said.append)

    assert [found.verdict for found in result.invariants] == [
        found.verdict for found in judged(problem, "one thread")[0]
    ]
    assert "judged in parts" in said[0]


def test_a_claim_of_which_too_much_is_left_is_left_open_and_the_others_are_judged() -> None:
    problem = labelled_problem({(0, FREE_A): 1, (1, FAIR_A): 0}, q=[2], p=[5])
    with closing(engine_for(problem, "over files")) as engine:
        result = search(problem, engine)
        findings = judge_behaviours(problem, engine, result, memory_bytes=1_000_000)
    found = {each.name: each for each in result.invariants}

    assert not findings
    assert found["back"].verdict is found["leads_to"].verdict is Verdict.HOLDS
    assert found["eventually"].verdict is found["always_eventually"].verdict is Verdict.INCOMPLETE
    assert found["eventually"].why.startswith("of what is left the graph of 2 states")
