"""Courses of claims about behaviours: against the definitions, on graphs and on Kafka's traces."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from tests.support.labelled_graph import CLAIMS, FREE, NODES, labelled_problem
from tests.support.on_courses import OnCourses, a_graph
from tests.support.recorded_traces import entry_trace, problem_of, replayed_in
from tests.support.temporal_oracle import explored, for_ever, no_way_back
from waterline.checker.analysis.explain.chain import Chain, chain_of, own_actions
from waterline.checker.analysis.explain.executions import Allowance, Event
from waterline.checker.analysis.explain.liveness import LastingSearch
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.prepare import prepare
from waterline.counterexamples import Moment
from waterline.model.core.claim import Behaviour, Recoverable
from waterline.model.core.state import State

PLENTY = Allowance(states=1_000_000, ends=time.monotonic() + 10_000)


def by_definition(
    problem: Problem, claim: Behaviour, start: State, events: Sequence[Event]
) -> tuple[bool, bool, int]:
    """Whether a course breaks the claim, whether a state is left open, and how many there are."""
    own = set(own_actions(problem, claim))
    space = explored(OnCourses(problem.model, start, events, own))  # type: ignore[arg-type]
    states = len({node.state for node in space.states})  # type: ignore[attr-defined]
    if isinstance(claim, Recoverable):
        found = no_way_back(space, claim)
        return bool(found.lost), bool(found.not_judged), states
    return bool(for_ever(space, claim)), False, states


def assert_judged_as_the_definitions_say(graphs: int, least: int) -> None:
    broken = held = left_open = 0
    for seed in range(graphs):
        dice = random.Random(seed)
        edges, p, q = a_graph(dice), range(0, NODES, 2), dice.sample(range(NODES), 2)
        events = [
            Event("Free", dice.randrange(FREE), again=dice.random() < 0.1)
            for _ in range(dice.randint(0, 3))
        ]
        for claim in CLAIMS:
            problem = labelled_problem(edges, p=p, q=q, claims=(claim,))
            [start] = problem.model.initial
            breaks, is_open, states = by_definition(problem, claim, start, events)

            found = LastingSearch(problem, claim, own_actions(problem, claim)).search(
                start.words, events, PLENTY
            )

            assert bool(found.breaks) is breaks, (seed, claim.name)
            assert found.states == states, (seed, claim.name)
            if isinstance(claim, Recoverable) and not breaks:
                assert found.breaks is (None if is_open else False), (seed, claim.name)
            broken += breaks
            held += found.breaks is False
            left_open += found.breaks is None
    # All three come up, or the comparison would say nothing.
    assert min(broken, held, left_open) > least


def test_random_graphs_are_judged_as_the_definitions_say() -> None:
    assert_judged_as_the_definitions_say(40, 2)


def test_what_is_waited_for_at_the_start_counts() -> None:
    [leads_to] = [claim for claim in CLAIMS if claim.name == "leads_to"]
    problem = labelled_problem({(0, 0): 1, (1, 0): 0}, p=[5], q=[6], claims=(leads_to,))
    search = LastingSearch(problem, leads_to, {"Fair"})
    start = problem.model.initial[0].words

    assert search.search(start, [], PLENTY).breaks is False
    assert search.search(start, [], PLENTY, is_waiting=True).breaks is True


def test_a_search_ends_at_its_budget() -> None:
    [claim] = [claim for claim in CLAIMS if claim.name == "eventually"]
    problem = labelled_problem({(0, 0): 1, (1, 0): 2, (2, 0): 3}, q=[7], claims=(claim,))
    few = Allowance(states=2, ends=PLENTY.ends)

    found = LastingSearch(problem, claim, {"Fair"}).search(problem.model.initial[0].words, [], few)

    assert found.breaks is None


@pytest.fixture(scope="module")
def refused() -> tuple[Problem, Chain]:
    """C43: a record that is never answered."""
    trace = entry_trace("refused-expansion")
    problem = problem_of(trace)
    prepare(problem)
    return problem, chain_of(problem, replayed_in(problem, trace))


def test_a_trace_that_waits_for_ever_is_explained(refused: tuple[Problem, Chain]) -> None:
    _, chain = refused

    assert [str(cause.moment) for cause in chain.causes] == [
        "Crash(replica=0)",
        "Produce(leader=1)",
        "Crash(replica=0)",
    ]
    assert ("AlterPartition(leader=1)", 7, 9) in {(c.call, c.first, c.last) for c in chain.chances}
    assert not any(cause.undecided for cause in chain.causes)


def test_causes_and_chances_are_right_by_the_definitions(refused: tuple[Problem, Chain]) -> None:
    problem, chain = refused
    [claim] = problem.applicable_behaviours
    kept = [cause.moment for cause in chain.causes]
    initial = chain.replayed.initial

    def breaks(start: State, moments: Sequence[Moment]) -> bool:
        events = [Event(moment.action, moment.values[0]) for moment in moments]
        return by_definition(problem, claim, start, events)[0]

    assert breaks(initial, kept)
    for cause in chain.causes:
        assert not breaks(initial, [moment for moment in kept if moment is not cause.moment])
    for chance in chain.chances:
        assert not breaks(chance.moment.after, [m for m in kept if m.number > chance.last])
