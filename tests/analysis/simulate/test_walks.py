"""Walks through graphs whose every path is known: where they go, what they see, what they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.graph_model import NODES, graph_problem
from waterline.checker.analysis.simulate.coverage import Coverage, Sighting
from waterline.checker.analysis.simulate.hyperloglog import (
    REGISTERS,
    STANDARD_ERROR,
    empty_sketch,
    estimate,
)
from waterline.checker.analysis.simulate.simulation import InOrder, WalkQuota, on_threads
from waterline.checker.analysis.simulate.walk_loops import OFTEN, PACES_MAX
from waterline.checker.analysis.simulate.walker import BATCH, Choosing, Plan, Walker, recipe_of
from waterline.checker.compiler.origins import action_of, arguments_of
from waterline.checker.compiler.program import load_program
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.prepare import prepare
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration
from waterline.model.message.environment import Environment

NOT_BAD, NOT_WORSE, LEVEL = 0, 1, 2
"""Claims of the graph model, by number."""
TANGLED = [(n, (n * k + 1) % NODES) for n in range(NODES) for k in (1, 2, 5)]


def walker(problem: Problem, **planned: Any) -> Walker:
    prepare(problem)
    load_program(recipe_of(problem.model.layout.words))
    return Walker(problem, Plan(**{"depth": 10, **planned}))


def walked(problem: Problem, walks: int, threads: int = 1, **planned: Any) -> Coverage:
    made = walker(problem, **planned)
    asked = WalkQuota(problem=problem, plan=made.plan, walks=walks)
    return on_threads(asked, threads, lambda: False, lambda seen: None)


def facts(seen: Coverage) -> dict[str, Any]:
    """All that was seen, as values that can be compared."""
    return {
        "walks": seen.walks,
        "fired": seen.fired.tolist(),
        "cut": seen.cut.tolist(),
        "taken": seen.taken.tolist(),
        "happened": seen.happened.tolist(),
        "lengths": seen.lengths.tolist(),
        "faults": {name: used.tolist() for name, used in seen.faults.items()},
        "sketch": seen.sketch.tolist(),
        "sightings": seen.sightings,
        "broken_in": seen.broken_in,
    }


@cache
def hw() -> Problem:
    return problem_for("hw", Environment())


def anywhere(s: Any, c: Any) -> bool:
    """Always."""
    return True


def turn(s: Any, c: Any) -> None:
    """Anywhere else."""
    s.side = 1 - s.side


@cache
def two_ways() -> Problem:
    """A model in which two actions are always enabled, and lead to the same."""
    layout = Layout([Field(name="side", hi=1, doc="Where we are.")], sizes={})
    actions = tuple(Action(name=n, guard=anywhere, effect=turn) for n in ("Left", "Right"))
    model = Model(
        name="ways",
        version="ways",
        layout=layout,
        settings=NamedTuple("Settings", [("nothing", int)])(0),
        actions=actions,
        contents=("Left", "Right"),
        limits=("within",),
        initial=(State(layout),),
        narration=Narration(
            sentence=lambda *step: "", rows=lambda state: [], summary=lambda state: []
        ),
        options={},
    )
    return Problem(model, ())


def first_steps(choosing: Choosing, walks: int) -> Counter[int]:
    """The first step of each walk through hw."""
    made = walker(hw(), choosing=choosing, outside=words_of(hw()).outside)
    return Counter(made.steps(number, 1)[1][0] for number in range(walks))


@pytest.mark.parametrize("choosing", [Choosing.STEPS, Choosing.ACTIONS, Choosing.PACES])
def test_each_step_of_an_action_is_taken_as_often_as_another(choosing: Choosing) -> None:
    made = walker(graph_problem([(0, n) for n in range(1, 9)]), choosing=choosing)
    counts = Counter(arguments_of(made.steps(number, 1)[1][0]) for number in range(8_000))

    assert set(counts) == set(range(1, 9))
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 24  # chi-squared, 0.1%


def test_an_action_is_chosen_before_its_steps() -> None:
    model, walks = hw().model, 6_000
    enabled = Counter(step.action.name for step in model.successors(model.initial[0]))
    counts = first_steps(Choosing.ACTIONS, walks)
    surprise = 0.0
    for step, count in counts.items():
        expected = walks / len(enabled) / enabled[model.actions[action_of(step)].name]
        surprise += (count - expected) ** 2 / expected

    assert len(counts) == sum(enabled.values()) > len(enabled)
    assert surprise < 20  # chi-squared of four degrees of freedom, 0.1%: 18.5


def left_shares(choosing: Choosing) -> list[float]:
    """How often of 60 times each walk went left, where it could always go right as well."""
    made = walker(two_ways(), choosing=choosing, depth=60, outside=frozenset(["Left"]))
    walks = [made.steps(number, 60)[1] for number in range(800)]
    return [sum(action_of(step) == 0 for step in steps) / 60 for steps in walks]


def expected_share(weight: int) -> float:
    """Of going left, where going right weighs so much, on top of a pace that each of them has."""
    paces = [1 << pace for pace in range(PACES_MAX + 1)]
    return sum(a / (a + weight * b) for a in paces for b in paces) / len(paces) ** 2


def test_an_action_keeps_its_pace_for_a_whole_walk() -> None:
    even, paced = left_shares(Choosing.ACTIONS), left_shares(Choosing.PACES)

    assert np.mean(even) == pytest.approx(0.5, abs=0.02)
    assert np.mean(paced) == pytest.approx(expected_share(1), abs=0.05)
    assert np.std(even) < 0.1
    assert np.std(paced) > 0.3


def test_where_faults_are_rare_the_protocols_own_steps_weigh_more() -> None:
    rare = left_shares(Choosing.RARE)

    assert np.mean(rare) == pytest.approx(expected_share(OFTEN), abs=0.05)
    assert expected_share(OFTEN) < 0.3


def test_mixed_is_each_way_in_turn() -> None:
    ways = list(Choosing)[1:]
    mixed = walker(hw(), choosing=Choosing.MIXED)
    alone = [walker(hw(), choosing=way) for way in ways]

    assert [mixed.steps(n, 10) for n in range(12)] == [alone[n % 4].steps(n, 10) for n in range(12)]


def test_a_walk_is_made_by_the_seed_and_its_number_alone() -> None:
    made = walker(graph_problem(TANGLED), seed=7)
    together = made.batch(100, 20)
    total = InOrder(WalkQuota(problem=made.problem, plan=made.plan, walks=20))
    for number in range(20):
        total.offer(number, made.batch(100 + number, 1))
    other = walker(graph_problem(TANGLED), seed=8)

    assert facts(total.total) == facts(together)
    assert [made.steps(n, 10) for n in range(9)] != [other.steps(n, 10) for n in range(9)]


@pytest.mark.parametrize("threads", [2, 3])
def test_walks_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    walks = 3 * BATCH + 17

    assert facts(walked(hw(), walks, threads)) == facts(walked(hw(), walks))


def test_a_walk_ends_where_there_is_no_step_or_at_its_depth() -> None:
    line = walked(graph_problem([(0, 1), (1, 2)]), 100)
    circle = walked(graph_problem([(0, 1), (1, 0)]), 100)

    assert line.lengths.tolist() == [0, 0, 100] + [0] * 8
    assert circle.lengths.tolist() == [0] * 10 + [100]
    assert (line.steps, circle.steps) == (200, 1_000)


def test_a_bound_is_no_way_on() -> None:
    seen = walked(graph_problem([(0, 1), (0, 2), (1, 3)], beyond={2}), 100)

    assert seen.lengths.tolist()[:3] == [0, 0, 100]
    assert int(seen.cut[:, 1].sum()) == 100


def test_a_walk_begins_in_any_of_the_initial_states() -> None:
    made = walker(graph_problem([], initial=(3, 4)))
    begun = Counter(made.steps(number, 1)[0][0] for number in range(1_000))

    assert set(begun) == {3, 4}
    assert 400 < begun[3] < 600


def test_what_one_more_step_could_come_to_is_judged_too() -> None:
    """Each of ten walks could have gone to the bad node; it is no matter who did."""
    problem = graph_problem([(0, n) for n in range(1, 40)], bad={39})
    seen = walked(problem, 10)

    assert seen.sightings == {NOT_BAD: Sighting(1, 0, 39)}
    assert seen.broken_in == {NOT_BAD: 10}


def test_of_all_places_where_a_claim_breaks_the_one_after_the_fewest_steps_is_kept() -> None:
    problem = graph_problem([(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6)], bad={4, 6}, worse={0})
    seen = walked(problem, 200)
    short = next(n for n in range(200) if walker(problem).steps(n, 1)[1] == [5])

    assert seen.sightings[NOT_BAD] == Sighting(2, short, 6)
    assert seen.sightings[NOT_WORSE] == Sighting(0, 0, -1)
    assert seen.broken_in == {NOT_BAD: 200, NOT_WORSE: 200}


def test_a_step_that_breaks_a_property_is_seen_in_the_walks_that_come_to_it() -> None:
    problem = graph_problem([(0, 1), (0, 2), (1, 3), (2, 3)], steep_from={1}, steep_to={3})
    seen = walked(problem, 60)
    walks = walker(problem)
    by_one = [n for n in range(60) if walks.steps(n, 1)[1] == [1]]

    assert 15 < len(by_one) < 45
    assert seen.sightings == {LEVEL: Sighting(2, by_one[0], -1)}
    assert seen.broken_in == {LEVEL: len(by_one)}


def test_a_walk_in_which_a_claim_breaks_again_and_again_counts_once() -> None:
    problem = graph_problem([(0, 1), (1, 0)], bad={1}, steep_from={1}, steep_to={0})

    assert walked(problem, 30).broken_in == {NOT_BAD: 30, LEVEL: 30}


def test_what_must_happen_is_seen_where_it_does() -> None:
    edges = [(0, 1), (1, 2)]

    assert walked(graph_problem(edges, leads_to_goal={1}), 5).happened.tolist() == [True]
    assert walked(graph_problem(edges, leads_to_goal={2}), 5).happened.tolist() == [False]


def test_different_states_are_counted_once() -> None:
    every_node = walked(graph_problem(TANGLED), 2_000, depth=40)

    assert round(every_node.distinct) == NODES


@pytest.mark.parametrize("number", [0, 1, 100, 20_000, 1_000_000])
def test_the_sketch_estimates_within_its_error(number: int) -> None:
    hashes = np.random.default_rng(5).integers(0, 1 << 64, number, np.uint64)
    registers = (hashes >> np.uint64(50)).astype(np.int64)
    rest = hashes & np.uint64((1 << 50) - 1) | np.uint64(1 << 50)
    runs = np.log2((rest & (~rest + np.uint64(1))).astype(np.float64)).astype(np.int32) + 1
    sketch = empty_sketch()
    np.maximum.at(sketch, registers, runs)

    assert len(sketch) == REGISTERS == 1 << 14
    assert abs(estimate(sketch) - number) <= max(0.5, 3 * STANDARD_ERROR * number)


def test_walks_in_the_order_of_their_numbers_end_at_the_first_that_breaks_a_claim() -> None:
    """As many on any number of threads, and none of those after it are in what is told."""
    edges = [(n, m) for n in range(13) for m in (0, n + 1)]
    problem = graph_problem(edges, bad={13})
    made = walker(problem, depth=13, choosing=Choosing.STEPS, seed=5)
    asked = WalkQuota(problem=problem, plan=made.plan, walks=100 * BATCH, stop_at_first=True)
    one, three = (on_threads(asked, n, lambda: False, lambda seen: None) for n in (1, 3))
    before = on_threads(
        replace(asked, walks=one.walks - BATCH), 1, lambda: False, lambda seen: None
    )

    assert facts(one) == facts(three)
    assert one.sightings
    assert BATCH < one.walks < 100 * BATCH
    assert not before.sightings


def test_no_walk_begins_once_it_is_late() -> None:
    problem = graph_problem(TANGLED)
    asked = WalkQuota(problem=problem, plan=walker(problem).plan, walks=None)
    looks = iter([False, False, True])

    assert on_threads(asked, 1, lambda: next(looks), lambda seen: None).walks == 2 * BATCH
