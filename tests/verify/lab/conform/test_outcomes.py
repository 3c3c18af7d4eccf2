"""What a step comes to, one at a time and for all states at once, and a way to each outcome."""

from __future__ import annotations

import functools
from collections import deque

import pytest

from lab.conform.circumstances import CIRCUMSTANCES
from lab.conform.outcomes import Outcome, describe, outcome_named, outcome_of
from lab.conform.reaching import Search
from tests.support import states
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment

SMALL = Environment(records=1, epochs=1, restarts=1)


def problem(version: str) -> Problem:
    return MESSAGE.problem(version, SMALL, ["valid_isr"])


def of_every_step(model: Model) -> set[Outcome]:
    """By going through the states one by one."""
    found: set[Outcome] = set()
    seen = set(model.initial)
    left = deque(model.initial)
    while left:
        state = left.popleft()
        for step in model.successors(state):
            found.add(outcome_of(model, step.action.name, state, step.after))
            if step.after not in seen:
                seen.add(step.after)
                left.append(step.after)
    return found


@functools.cache
def outcomes_of(version: str) -> set[Outcome]:
    return of_every_step(problem(version).model)


@pytest.mark.parametrize("version", ["hw", "kip320"])
def test_all_outcomes_are_found_and_no_others(version: str) -> None:
    asked = problem(version)
    search = Search(asked, None)
    search.carried_out(states_max=10**6)

    assert search.complete
    assert search.outcomes == outcomes_of(version)


def test_a_reassignment_comes_to_what_it_does_to_the_replicas() -> None:
    environment = Environment(
        records=1, epochs=1, restarts=0, reassignments=1, assigned=1, first_partition_replicas=2
    )
    asked = MESSAGE.problem("elr", environment, ["valid_isr"])
    search = Search(asked, None)
    search.carried_out(states_max=10**6)
    found = set(map(describe, search.outcomes))

    assert search.outcomes == of_every_step(asked.model)
    assert "Reassign: assigned+ adding+" in found
    assert "CancelReassignment: epoch+ assigned- adding-" in found
    assert any(each.startswith("AlterPartition: ") and "adding-" in each for each in found)


def test_the_way_to_an_outcome_ends_with_it() -> None:
    asked = problem("hw")
    model = asked.model
    search = Search(asked, None)
    search.carried_out(states_max=10**6)
    paths = search.ways()

    assert len(paths) > 20
    for outcome, calls in paths.items():
        state = before = model.initial[0]
        for name, arguments in calls:
            before = state
            [state] = [
                step.after
                for step in model.successors(state)
                if (step.action.name, step.arguments) == (name, arguments)
            ]
        assert outcome_of(model, calls[-1][0], before, state) == outcome


def test_too_many_states_are_not_gone_through() -> None:
    search = Search(problem("hw"), None)
    search.carried_out(states_max=100)

    assert not search.complete
    assert search.states > 100


def test_an_outcome_can_be_read_again() -> None:
    for outcome in outcomes_of("hw"):
        assert outcome_named(describe(outcome)) == outcome

    with pytest.raises(ValueError, match="names no outcome"):
        outcome_named("Produce")


def test_an_outcome_says_what_moves() -> None:
    model = states.model_of("hw")
    before = model.initial[0]
    step = next(step for step in model.successors(before) if step.action.name == "Produce")

    assert describe(outcome_of(model, "Produce", before, step.after)) == "Produce: leo+ unanswered+"


def test_what_a_role_takes_with_it_is_told_by_the_role() -> None:
    model = states.model_of("hw")
    before = model.initial[0]
    step = next(step for step in model.successors(before) if str(step) == "Crash(replica=0)")

    assert describe(outcome_of(model, "Crash", before, step.after)) == (
        "Crash: role=none up- known_epoch-"
    )


def test_circumstances_have_names_of_their_own_and_the_code_s_high_watermark() -> None:
    assert len({each.name for each in CIRCUMSTANCES}) == len(CIRCUMSTANCES)
    assert {each.environment.hw_in_response for each in CIRCUMSTANCES} == {"pre"}
