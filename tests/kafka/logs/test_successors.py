"""Compiled successors are the interpreted ones: the same steps, states and judgements, in order."""

from __future__ import annotations

import random

import pytest

from waterline.checker.kafka.logs import successors
from waterline.checker.kafka.logs.successors import Compiled, Interpreted, Successors
from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

BOUNDS = {
    "hw": Environment(replicas=2, records=2, epochs=2, restarts=2, moves=1, acks="1"),
    "truncate-on-fetch": Environment(
        replicas=3,
        records=1,
        epochs=3,
        restarts=1,
        moves=2,
        shutdowns=1,
        unclean_leader_election=True,
    ),
    "elr": Environment(replicas=2, records=1, epochs=3, restarts=2, session_expiries=1),
}
WALKS, STEPS = 20, 30


def met(model: Model) -> list[StateWords]:
    """States of random walks of the interpreted model."""
    chance, found = random.Random(7), {}
    for _ in range(WALKS):
        state = model.initial[0]
        for _ in range(STEPS):
            found[state.words] = True
            steps = list(model.successors(state))
            if not steps:
                break
            state = chance.choice(steps).after
    return list(found)


@pytest.mark.parametrize("version", BOUNDS)
def test_compiled_successors_are_the_interpreted_ones(version: str) -> None:
    model = message_model(version, BOUNDS[version])
    interpreted, compiled = Interpreted(model), Compiled(Problem(model, ()))
    names = Successors(model)
    judged = set()
    for words in met(model):
        expected = list(interpreted.of(words))

        assert list(compiled.of(words)) == expected
        steps = [
            (step.action.name, step.arguments, step.after.words)
            for step in model.successors(type(model.initial[0])(model.layout, words))
        ]
        assert [(*names.call_of(each.step), each.words) for each in expected] == steps
        judged |= {(each.loses, each.endangers) for each in expected}

    if version == "hw":  # With acks=1 a record is easily lost.
        assert judged == {(False, False), (False, True), (True, True)}


def test_a_search_turns_to_compiled_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it makes before and after that is the same."""
    monkeypatch.setattr(successors, "INTERPRETED_STATES", 2)
    monkeypatch.setattr(successors, "_is_at_hand", lambda problem: False)
    model = message_model("hw", BOUNDS["hw"])
    made = Successors(model)
    found = [list(made.of(model.initial[0].words)) for _ in range(4)]

    assert made.is_compiled
    assert found[0]
    assert all(each == found[0] for each in found)
