"""Judged in parts random graphs come to what they come to as a whole."""

from __future__ import annotations

from dataclasses import replace

from tests.liveness.test_external import both_ways, judged, left
from tests.support.by_definition import a_graph, problem_of

__all__ = ["left"]


def test_random_graphs_are_judged_in_parts_as_they_are_as_a_whole(left: list[int]) -> None:
    violated = unjudged = cycles = 0
    for seed in range(25):
        results, told = both_ways(problem_of(a_graph(seed)))
        violated += len(told)
        unjudged += sum(result.unjudged > 0 for result in results)
        cycles += sum('"cycle"' in trace for trace, _, _ in told)

    assert violated > 20
    assert unjudged > 5
    assert cycles > 10
    # Much is taken away, and not all: what is left is judged in the end.
    assert 0 in left
    assert any(left)


def test_random_graphs_with_strong_fairness_are_judged_in_parts_too(left: list[int]) -> None:
    cycles = unjudged = 0
    for seed in range(108, 120):
        graph = a_graph(
            seed, weak=("Fair",) if seed % 2 else (), strong=("Free", "Fair")[seed % 2 :]
        )
        results, told = both_ways(problem_of(graph))
        unjudged += sum(result.unjudged > 0 for result in results)
        cycles += sum('"cycle"' in trace for trace, _, _ in told)

    assert cycles > 3
    assert unjudged
    assert 0 in left
    assert any(left)


def test_what_happens_finitely_often_is_no_part_of_a_cycle_in_parts_either() -> None:
    broken = fewer = cycles = 0
    for seed in range(25):
        problem = problem_of(a_graph(seed))
        finite = replace(problem, model=replace(problem.model, finitely_often=("Free",)))
        _, endless = judged(problem, "one thread")
        _, told = both_ways(finite)
        broken += len(told)
        fewer += len(endless) - len(told)
        cycles += sum('"cycle"' in trace for trace, _, _ in told)

    assert broken > 20
    assert fewer > 2
    assert cycles > 5
