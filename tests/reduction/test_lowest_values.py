"""A field that is not kept reads as its lowest value, which it may never have in the full model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.problem.problem import Problem
from checker.reduction.effects import renamings
from checker.reduction.generated import made
from checker.reduction.plan import Decisions
from checker.reduction.planning import decided
from checker.reduction.smaller import smaller_model
from fuzz.random_models import verdicts
from model.core.claim import Invariant
from model.core.layout import Field, Layout
from model.core.renaming import (
    ONE_REPLICA,
    SET_OF_REPLICAS,
    Holds,
    Naming,
    Sort,
)
from model.core.state import State
from model.core.transition_system import Model
from tests.support.row_models import model_of

# Between 1 and 2 for ever, where it begins with one of these: never 0, its lowest value.
TURNED = ("True", "s.other[0] = 3 - s.other[0]")


def problem_of(claim: str, model: Model) -> Problem:
    holds = made(f"def holds(s, c):\n    return {claim}\n", {})["holds"]
    invariant = Invariant(name="claim", sentence="", holds=holds, explain=lambda s, c: "")
    draft = State(model.layout).draft()
    draft.other[0] = draft.other[1] = 1
    return Problem(replace(model, initial=(draft.freeze(),)), (invariant,))


def both(problem: Problem) -> tuple[Decisions, dict[str, bool], dict[str, bool]]:
    """What is decided, and the verdicts without it and with it."""
    decisions = decided(problem)
    less = verdicts(replace(problem, model=smaller_model(problem.model, decisions)))
    full = verdicts(problem)
    assert full is not None
    assert less is not None
    return decisions, full[0], less[0]


@pytest.mark.parametrize(
    ("guard", "effect"),
    [
        ("s.on[0] == 0 if i == 0 else s.other[0] == 0", "s.count[i] = 1"),
        ("s.on[0] == 0", "s.count[0 if i == 0 or s.other[0] != 0 else 1] = 1"),
    ],
    ids=["a step that never happens", "what a step that happens never does"],
)
def test_what_would_come_of_the_lowest_value_does_not(guard: str, effect: str) -> None:
    problem = problem_of("s.count[1] != 1", model_of(TURNED, (guard, effect)))

    _, full, less = both(problem)

    assert full == less == {"claim": False}


def test_who_would_raise_for_what_is_dead_at_times_has_it() -> None:
    """Once the fault has come nothing reads `other` but who turns it, and 3 - 0 is out of range."""
    again = ("s.on[i] == 0", "s.on[i] = 1; s.other[i] = 2")
    turned = ("s.on[i] == 1", "s.other[i] = 3 - s.other[i]")
    fault = ("s.on[i] == 1", "s.count[i] = s.other[i]")
    problem = problem_of("s.count[0] != 2 or s.on[1] == 0", model_of(again, turned, budgeted=fault))

    decisions, full, less = both(problem)

    assert full == less
    assert {(dead.deciding, dead.values) for dead in decisions.dead} == {("on", (0,))}


@pytest.mark.parametrize(
    ("naming", "bounds", "values", "renamed"),
    [
        (ONE_REPLICA, (-1, 2), {-1, 0}, {-1, 0, 1, 2}),
        (ONE_REPLICA, (-1, 2), {-1}, {-1}),
        (SET_OF_REPLICAS, (0, 7), {0b011, 0b100}, {0b011, 0b101, 0b110, 0b001, 0b010, 0b100}),
        (Naming(holds=Holds.RECORD), (0, 2), {0, 1}, {0, 1}),
        (None, (0, 3), {1}, {1}),
    ],
    ids=["a replica", "nobody", "sets of replicas", "of another sort", "no name"],
)
def test_where_names_do_not_count_what_is_known_is_so_of_all(
    naming: Naming | None, bounds: tuple[int, int], values: set[int], renamed: set[int]
) -> None:
    declared = Field(name="field", lo=bounds[0], hi=bounds[1], naming=naming, doc="")
    layout = Layout([declared], sizes={"replicas": 3, "records": 2})

    assert renamings(frozenset(values), declared, layout, (Sort.REPLICA,)) == renamed
    assert renamings(frozenset(values), declared, layout, ()) == values
