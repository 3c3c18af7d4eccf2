"""What two fields never are at once in a row is found, and only that."""

from __future__ import annotations

from typing import Any

import pytest

from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from checker.reduction.effects import Steps
from checker.reduction.generated import made
from checker.reduction.planning import read_by_claims
from fuzz.random_models import random_problem
from model.core.claim import ActionProperty
from model.core.state import as_dict
from tests.support.row_models import COUNTED, SWITCHED_OFF, SWITCHED_ON, model_of


def possible(*actions: tuple[str, str]) -> set[tuple[int, int]]:
    """The values that `on` and `count` may have in one row, by analysis."""
    return Steps.of(model_of(*actions)).relations.pairs["on", "count"]


def test_what_every_step_keeps_is_known() -> None:
    found = possible(SWITCHED_ON, COUNTED, SWITCHED_OFF)

    assert found == {(0, 0), (1, 0), (1, 1), (1, 2)}


@pytest.mark.parametrize(
    "breaking",
    [
        ("s.on[i] == 1 and s.count[i] == 2", "s.on[i] = 0"),
        ("s.on[0] == 0 and s.on[1] == 0", "s.count[i] = 2"),
        ("s.on[i] == 1", "s.count[0] = 2"),
    ],
    ids=["it leaves something behind", "it writes while off", "it writes another row"],
)
def test_what_a_step_breaks_is_not_taken_for_true(breaking: tuple[str, str]) -> None:
    found = possible(SWITCHED_ON, COUNTED, SWITCHED_OFF, breaking)

    assert (0, 2) in found


def test_what_is_known_of_the_state_before_is_not_said_of_a_row_that_was_written() -> None:
    # In the middle of this step a row is off, and its count is what it was: it is looked at there.
    restarted = ("s.on[i] == 1", "s.on[i] = 0; s.on[i] = 1 if s.count[i] == 0 else 0")

    assert possible(SWITCHED_ON, COUNTED, SWITCHED_OFF, restarted) >= {(0, 1), (0, 2)}


def test_no_state_of_a_random_model_has_a_pair_that_is_said_to_be_impossible() -> None:
    for seed in (0, 252, 310, 539, 850):
        model = random_problem(seed).model
        relations = Steps.of(model).relations
        seen = set(model.initial)
        level = list(seen)
        while level and len(seen) < 300:
            level = [step.after for state in level for step in model.successors(state)]
            level = sorted(set(level) - seen, key=lambda state: state.words)
            seen |= set(level)

        for values in map(as_dict, seen):
            for (first, other), pairs in relations.pairs.items():
                assert set(zip(values[first], values[other], strict=True)) <= pairs, seed


def test_a_broker_of_kafka_that_is_down_has_no_role_and_no_epoch() -> None:
    relations = Steps.of(MESSAGE.problem_of("epoch", {"restarts": 1}).model).relations

    assert {role for up, role in relations.pairs["up", "role"] if up == 0} == {0}
    assert {epoch for up, epoch in relations.pairs["up", "known_epoch"] if up == 0} == {-1}
    assert {role for up, role in relations.pairs["up", "role"] if up == 1} == {0, 1, 2, 3}


def test_what_is_read_before_a_step_says_nothing_of_what_is_there_after_it() -> None:
    # A property reads two states: who did not lead may lead in the next.
    problem = MESSAGE.problem_of("hw", {})
    keeps = made(
        "def keeps(s, t, c):\n    return s.role[0] == 1 or t.role[0] != 1 or t.durable[0] == 0\n",
        {},
    )["keeps"]
    prop = ActionProperty(name="fresh", sentence="", keeps=keeps, explain=nothing)
    alone = Problem(problem.model, (), properties=(prop,))

    assert read_by_claims(alone, Steps.of(problem.model)) == {"role", "durable"}


def nothing(*given: Any) -> str:
    return ""
