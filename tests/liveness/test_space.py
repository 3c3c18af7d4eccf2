"""The graph that is judged is that of the interpreted model, cut steps and truths included."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from tests.support.own import example
from waterline.checker.compiler.origins import call_of
from waterline.checker.graph.edges import MISSING, Index
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.liveness.space import Gatherer, Space, bytes_needed, space_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.core.claim import Recoverable, predicates_of
from waterline.model.core.state import State


def leads(s: Any, c: Any) -> bool:
    """Somebody leads."""
    return s.leader >= 0


def never(s: Any, c: Any) -> bool:
    """Nothing is good, so that every state is kept."""
    return False


def kafka() -> Problem:
    """A small space in which budgets and limits cut steps, with all of its steps asked for."""
    options = MESSAGE.usual.options() | {"records": 1, "epochs": 1, "restarts": 1, "moves": 1}
    model = MESSAGE.problem("kip320", options).model
    claim = Recoverable(
        name="never",
        sentence="",
        when=leads,
        good=never,
        by=model.contents,
        explain=lambda state, settings: "",
    )
    return Problem(model, (), behaviours=(claim,), asked=frozenset({"never"}))


def table() -> Problem:
    """One claim alone, so that not all states are kept."""
    asked = frozenset({"someone_hungers_leads_to_someone_eats"})
    return replace(example("philosophers"), asked=asked)


def space(problem: Problem) -> tuple[Space, int]:
    with closing(MemoryEngine(problem, threads=2)) as engine:
        result = search(problem, engine)
        parts = [
            (level.depth, part)
            for level in result.levels
            for part in engine.over_level(level.depth, Gatherer(problem))
        ]
    return space_of(problem, parts), result.distinct


@pytest.mark.parametrize("problem", [kafka(), table()], ids=["kafka", "own"])
def test_edges_cut_steps_and_truths_are_those_of_the_interpreted_model(problem: Problem) -> None:
    found, distinct = space(problem)
    model, settings = problem.model, problem.model.settings
    elsewhere = len(found) - 1
    states = [State(model.layout, found.words(number)) for number in range(elsewhere)]
    number_of = {state: number for number, state in enumerate(states)}
    edges = {
        (number, *call_of(model, step), target)
        for number, step, target in zip(
            found.source.tolist(), found.step.tolist(), found.target.tolist(), strict=True
        )
    }
    cut = {
        (number, *call_of(model, step))
        for number, step in zip(found.cut_state.tolist(), found.cut_step.tolist(), strict=True)
    }
    predicates = [p for c in problem.applicable_behaviours for p in predicates_of(c)]

    assert sorted(states, key=lambda state: state.words) == states
    assert edges == {
        (number, step.action.name, step.arguments, number_of.get(step.after, elsewhere))
        for number, state in enumerate(states)
        for step in model.successors(state)
    }
    assert cut == {
        (number, action.name, values)
        for number, state in enumerate(states)
        for action in model.enabled_actions
        for values in model.bindings(action)
        if model.is_enabled(state, action, values) and model.exceeded_limit(state, action, values)
    }
    assert [truth[:-1].tolist() for truth in found.truths] == [
        [bool(predicate(state, settings)) for state in states] for predicate in predicates
    ]
    assert [bool(truth[-1]) for truth in found.truths] == [False, True] * (len(predicates) // 2)
    assert (elsewhere == distinct) == (problem.model.name == MESSAGE.model)
    assert bool(cut) == (problem.model.name == MESSAGE.model)


def test_a_state_that_is_not_there_has_no_number() -> None:
    found, _ = space(example("philosophers"))
    index = Index(found.rows[1:])

    assert index.numbers_of(found.rows[:2]).tolist() == [MISSING, 0]


def test_more_of_anything_takes_more_memory() -> None:
    least = bytes_needed(1000, 3000, 1, 2)

    assert all(
        more > least
        for more in (
            bytes_needed(1001, 3000, 1, 2),
            bytes_needed(1000, 3001, 1, 2),
            bytes_needed(1000, 3000, 2, 2),
            bytes_needed(1000, 3000, 1, 4),
        )
    )
