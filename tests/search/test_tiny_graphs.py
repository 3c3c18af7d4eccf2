"""The loop and the local engine on graphs whose answers can be read off a sketch."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.support.engines import WAYS, engine_for
from tests.support.graph_model import graph_problem, node_state
from waterline.checker.checking.run import EngineChoice, Run, run
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.factory import GrowingEngine
from waterline.checker.search.engines.memory import OWNERS, MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine, WrittenLevels
from waterline.checker.search.engines.workers import DiskWorkers
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import Budgets, search
from waterline.checker.storage.compact import CompactVisited
from waterline.checker.storage.entry_layout import widths_of


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def explore(problem: Problem, way: str = "one thread", **budgets: object) -> Result:
    with closing(engine_for(problem, way)) as engine:
        return search(problem, engine, budgets=Budgets(**budgets))  # type: ignore[arg-type]


def checked(problem: Problem) -> Run:
    return run(problem, EngineChoice(name="local", threads=1))


def sizes(result: Result) -> list[int]:
    return [level.states for level in result.levels]


def verdict(result: Result, name: str = "not_bad") -> tuple[Verdict, int | None]:
    found = next(r for r in result.invariants if r.name == name)
    return found.verdict, found.depth


def test_a_cycle_ends(way: str) -> None:
    result = explore(graph_problem([(0, 1), (1, 2), (2, 0)]), way)

    assert sizes(result) == [1, 1, 1]
    assert result.generated == 4
    assert result.depth == 2
    assert result.complete


def test_a_diamond_counts_its_meeting_point_once(way: str) -> None:
    result = explore(graph_problem([(0, 1), (0, 2), (1, 3), (2, 3)]), way)

    assert sizes(result) == [1, 2, 1]
    assert result.generated == 5


def test_a_self_loop_is_generated_and_not_distinct(way: str) -> None:
    result = explore(graph_problem([(0, 0)]), way)

    assert sizes(result) == [1]
    assert result.generated == 2


def test_several_initial_states_share_a_level_and_each_counts_once(way: str) -> None:
    result = explore(graph_problem([(5, 7), (3, 7)], initial=(5, 3, 5)), way)

    assert sizes(result) == [2, 1]
    assert result.generated == 4


def test_a_violation_in_the_initial_state_has_depth_zero_and_an_empty_trace(way: str) -> None:
    done = checked(graph_problem([(0, 1)], bad=[0]))

    assert verdict(done.result) == (Verdict.VIOLATED, 0)
    assert done.findings[0].replayed.moments == ()
    assert done.findings[0].explanation == "node 0"


def test_of_two_violations_at_one_depth_the_least_state_wins(way: str) -> None:
    result = explore(graph_problem([(0, 9), (0, 4), (0, 7)], bad=[9, 4, 7]), way)

    assert result.violated[0].words == node_state(4).words


def test_of_several_parents_the_least_is_in_the_trace() -> None:
    done = checked(graph_problem([(0, 5), (0, 3), (0, 8), (8, 9), (5, 9), (3, 9)], bad=[9]))

    assert [str(moment) for moment in done.findings[0].replayed.moments] == [
        "Follow(target=3)",
        "Follow(target=9)",
    ]


def test_a_violating_state_is_expanded_like_any_other(way: str) -> None:
    result = explore(graph_problem([(0, 1), (1, 2)], bad=[1]), way)

    assert sizes(result) == [1, 1, 1]
    assert verdict(result) == (Verdict.VIOLATED, 1)


def test_every_invariant_has_its_own_verdict_in_one_run(way: str) -> None:
    result = explore(graph_problem([(0, 1), (1, 2)], bad=[1], worse=[2]), way)

    assert verdict(result, "not_bad") == (Verdict.VIOLATED, 1)
    assert verdict(result, "not_worse") == (Verdict.VIOLATED, 2)


def test_a_state_without_any_transition_is_a_deadlock_the_shallowest_and_least(
    way: str,
) -> None:
    result = explore(graph_problem([(0, 6), (0, 5), (0, 1), (1, 2)]), way)

    assert result.deadlock == (1, node_state(5).words)


def test_a_state_whose_transitions_are_all_cut_is_no_deadlock(way: str) -> None:
    result = explore(graph_problem([(0, 1)], beyond=[1]), way)

    assert result.deadlock is None
    assert result.cut == {"beyond": 1}
    assert result.generated == 1


def test_a_cycle_has_no_deadlock(way: str) -> None:
    assert explore(graph_problem([(0, 1), (1, 0)]), way).deadlock is None


@pytest.mark.parametrize(
    ("budgets", "levels"),
    [({"max_states": 2}, [1, 1]), ({"max_depth": 1}, [1, 1]), ({"max_seconds": 1e-9}, [1])],
)
def test_running_out_of_budget_is_incomplete_and_never_holds(
    budgets: dict[str, float], levels: list[int]
) -> None:
    result = explore(graph_problem([(0, 1), (1, 2), (2, 3)], bad=[3]), **budgets)

    assert sizes(result) == levels
    assert not result.complete
    assert verdict(result) == (Verdict.INCOMPLETE, None)


def test_a_state_at_the_depth_limit_is_checked_before_the_run_stops() -> None:
    result = explore(graph_problem([(0, 1), (1, 2)], bad=[1]), max_depth=1)

    assert verdict(result) == (Verdict.VIOLATED, 1)
    assert verdict(result, "not_worse") == (Verdict.INCOMPLETE, None)


def test_stop_at_first_ends_after_the_level_that_violates() -> None:
    result = explore(
        graph_problem([(0, 1), (1, 2), (2, 3)], bad=[1], worse=[2]), stop_at_first=True
    )

    assert sizes(result) == [1, 1]
    assert verdict(result, "not_worse") == (Verdict.INCOMPLETE, None)


def test_enough_ends_after_the_level_that_breaks_that_claim_and_no_other() -> None:
    graph = graph_problem([(0, 1), (1, 2), (2, 3)], bad=[1], worse=[2])
    result = explore(graph, enough=frozenset({"not_worse"}))

    assert sizes(result) == [1, 1, 1]
    assert verdict(result, "not_worse") == (Verdict.VIOLATED, 2)
    assert not result.complete


def test_a_budget_that_is_reached_only_at_the_end_still_stops_the_run() -> None:
    """With as many states as the budget, the run cannot know that it is done."""
    result = explore(graph_problem([(0, 1)]), max_states=2)

    assert not result.complete


def test_an_action_that_stores_out_of_range_is_an_outcome_that_names_state_and_action() -> None:
    with pytest.raises(Raised, match=r"Break\(\): node cannot be 48") as raised:
        checked(graph_problem([(0, 1), (0, 2)], breaks=[2, 1]))

    assert raised.value.state == node_state(1)


def test_an_action_that_raises_is_an_outcome_that_names_state_and_action() -> None:
    with pytest.raises(Raised, match=r"Divide\(\): a division by zero") as raised:
        checked(graph_problem([(0, 1), (0, 2)], divides=[2, 1]))

    assert raised.value.state == node_state(1)


def test_an_invariant_that_raises_is_an_outcome_that_names_it() -> None:
    with pytest.raises(Raised, match="claim not_bad: a division by zero") as raised:
        checked(graph_problem([(0, 1)], poisons=[1]))

    assert raised.value.state == node_state(1)


def test_a_reachability_claim_is_reached_at_the_depth_of_its_first_step(way: str) -> None:
    result = explore(graph_problem([(0, 1), (1, 2), (2, 1)], leads_to_goal=[1]), way)

    assert [(claim.name, claim.depth) for claim in result.reachable] == [("goal", 2)]


def test_a_reachability_claim_that_nothing_reaches_is_reported(way: str) -> None:
    result = explore(graph_problem([(0, 1)], leads_to_goal=[1]), way)

    assert result.reachable[0].depth is None


def test_actions_are_counted_and_those_never_enabled_named(way: str) -> None:
    result = explore(graph_problem([(0, 1), (0, 2), (1, 2)]), way)

    assert result.fired == {"Follow": 3, "Break": 0, "Divide": 0, "Never": 0}
    assert result.never_enabled == ["Break", "Divide", "Never"]


def test_tables_that_cannot_number_more_states_hand_over() -> None:
    problem = graph_problem([(0, target) for target in range(1, 40)] + [(1, 41), (41, 42)])
    memory = MemoryEngine(problem, threads=1)
    memory.visited = CompactVisited(widths_of(problem.model.layout), OWNERS, rows_max=3)
    over_files = FileEngine(problem, DiskWorkers(words=1, threads=1), WrittenLevels(1))
    with closing(GrowingEngine(memory, over_files, name="local")) as engine:
        result = search(problem, engine)

    assert sizes(result) == [1, 39, 1, 1]
    assert {level.on for level in result.levels} == {"local", "disk"}
