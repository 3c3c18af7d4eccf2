"""What made a space as large as it is, beside the same counted in Python, state by state."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.commands import Commands
from tests.support.engines import engine_for
from waterline.checker.checking.bound_sensitivity import lowered_bounds
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search import profile as profiles
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.profile import (
    STANDARD_ERROR,
    VALUES_MAX,
    DistinctCount,
    Profile,
    profile_of,
)
from waterline.checker.search.search import Budgets, search
from waterline.checker.storage.blocks import hashes
from waterline.model.core.layout import Field
from waterline.model.core.state import State
from waterline.model.message.environment import Environment

SMALL = Environment(records=1, epochs=1, restarts=1, moves=1)
LOCAL = EngineChoice(name="local", threads=1)


@cache
def small() -> Problem:
    problem = problem_for("hw", SMALL)
    prepare(problem)
    return problem


@cache
def in_python() -> tuple[Counter[str], list[State]]:
    """Every state, and how many each action is the first to lead to from the level before."""
    model = small().model
    order = [action.name for action in model.actions]
    level = list(model.initial)
    seen = set(level)
    arrivals: Counter[str] = Counter()
    while level:
        first: dict[State, int] = {}
        for state in level:
            for step in model.successors(state):
                if step.after not in seen:
                    number = order.index(step.action.name)
                    first[step.after] = min(first.get(step.after, number), number)
        arrivals.update(order[number] for number in first.values())
        level = list(first)
        seen |= set(level)
    return arrivals, list(seen)


def profiled(way: str) -> Profile:
    with closing(engine_for(small(), way)) as engine:
        result = search(small(), engine, budgets=Budgets())
        return profile_of(small(), engine, result)


@pytest.mark.parametrize("way", ["two threads", "over files", "handed over"])
def test_states_are_put_down_to_the_first_action_that_leads_there(way: str) -> None:
    arrivals, states = in_python()
    found = profiled(way)

    assert {name: count for name, count in found.arrivals.items() if count} == arrivals
    assert sum(found.arrivals.values()) == found.states - 1 == len(states) - 1


def test_a_level_that_is_looked_through_in_pieces_comes_to_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profiles, "PIECE_STATES", 100)

    assert profiled("one thread").arrivals == profiled("two threads").arrivals


def value_of(state: State, field: Field) -> tuple[int, ...]:
    """A field's numbers, those of rows that are not alive at their least."""
    rows = np.ndindex(*field.shape)
    return tuple(
        field.lo
        if field.alive and getattr(state, field.alive.field)[at[0]] not in field.alive.values
        else int(_element(getattr(state, field.name), at))
        for at in rows
    )


def _element(value: Any, at: tuple[int, ...]) -> Any:
    if not at:
        return value
    return value[at] if len(at) > 1 else value[at[0]]


def test_the_values_of_each_field_are_counted_and_the_states_without_it() -> None:
    _, states = in_python()
    found = {each.name: each for each in profiled("one thread").fields}
    fields = small().model.layout.fields
    wholes = [tuple(value_of(state, field) for field in fields) for state in states]

    assert len(set(wholes)) == len(states)
    for number, field in enumerate(fields):
        without = len({whole[:number] + whole[number + 1 :] for whole in wholes})
        assert found[field.name].is_exact
        assert found[field.name].values == len({whole[number] for whole in wholes})
        assert abs(found[field.name].without - without) <= max(1, 4 * STANDARD_ERROR * without)


def test_faults_are_counted_as_states_have_them() -> None:
    _, states = in_python()
    used = Counter(state.restarts_used for state in states)

    assert profiled("one thread").faults["restarts_used"] == (used[0], used[1])


def unasked(**environment: int) -> Problem:
    """Without a claim: that compiles faster, and only counts are wanted."""
    return replace(problem_for("hw", Environment(**environment)), asked=frozenset())  # type: ignore[arg-type]


def test_what_lowering_a_bound_leaves_is_what_a_search_with_it_finds() -> None:
    environment = {"records": 2, "epochs": 1, "restarts": 2, "moves": 1}
    done = run(unasked(**environment), LOCAL, profiled=True)
    assert done.profile is not None
    lowered = {each.option: each for each in lowered_bounds(done.result, done.profile, LOCAL)}
    searched = {}
    for name in ("restarts", "moves", "records"):
        value = environment[name] - 1
        fewer = unasked(**{**environment, name: value})
        searched[f"--{name} {value}"] = run(fewer, LOCAL).result.distinct

    assert {option: lowered[option].states for option in searched} == searched
    assert [lowered[option].counted for option in searched] == [True, True, False]
    assert list(lowered) == sorted(lowered, key=lambda option: lowered[option].states or 0)


def test_a_space_that_was_not_explored_whole_is_not_explored_again() -> None:
    done = run(small(), LOCAL, budgets=Budgets(max_depth=4), profiled=True)
    assert done.profile is not None
    lowered = lowered_bounds(done.result, done.profile, LOCAL)

    assert {each.option for each in lowered if each.states is None} == {"--epochs 0"}


def test_more_values_than_are_counted_are_estimated_in_any_parts() -> None:
    chance = np.random.default_rng(3)
    rows = chance.integers(0, 1 << 18, (60_000, 2)).astype(np.uint64)
    found, half = hashes(rows), VALUES_MAX // 2
    whole, left, right = DistinctCount(), DistinctCount(), DistinctCount()
    whole.add(found)
    left.add(found[:half])
    left.add(found[:half])
    exact = left.is_exact, left.count
    right.add(found[half:])
    left.join(right)

    assert exact == (True, len(np.unique(rows[:half], axis=0)))
    assert not left.is_exact
    assert left.count == whole.count
    assert abs(whole.count - len(np.unique(rows, axis=0))) < 4 * STANDARD_ERROR * whole.count


def test_check_tells_it_and_only_where_asked(cli: Commands) -> None:
    asked = ("--protocol", "hw", "--records", 1, "--epochs", 1, "--moves", 1, "--restarts", 1)
    _, plain, _ = cli(*asked, "--engine", "local", "--format", "json")
    _, out, _ = cli(*asked, "--engine", "local", "--format", "json", "--profile")
    _, text, _ = cli(*asked, "--engine", "local", "--profile")
    profile = json.loads(out)["profile"]

    assert "profile" not in json.loads(plain)
    assert sum(profile["arrivals"].values()) == json.loads(out)["distinct"] - 1
    assert profile["lowered"]["--restarts 0"]["counted"]
    assert "What made it" in text
    assert "First action that leads there" in text
