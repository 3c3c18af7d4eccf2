"""States that differ in names alone: every space and symmetry, larger spaces, wide fields."""

from __future__ import annotations

import random

import pytest

from tests.problem.test_symmetry import (
    ALL,
    EVERY_SYMMETRY,
    SPACES,
    Bounds,
    assert_as_many_states_as_orbits,
    assert_names_do_not_count,
    assert_representatives_are_renamings,
    assert_the_least_of_orbits_is_the_same_of_many,
    atomic,
    message,
    some,
)
from tests.support.renamed import orbit
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.traces.fewest_actors import representative


@pytest.mark.parametrize("name", ALL)
def test_no_rule_and_no_claim_tells_names_apart(name: str) -> None:
    assert_names_do_not_count(name, some(name, 60 if name in SPACES else 120), least=100)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
@pytest.mark.parametrize("name", SPACES)
def test_as_many_states_are_explored_as_there_are_orbits(name: str, symmetry: Symmetry) -> None:
    assert_as_many_states_as_orbits(name, symmetry)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
@pytest.mark.parametrize("name", SPACES)
def test_the_least_of_an_orbit_is_the_same_worked_out_for_many_states_at_once(
    name: str, symmetry: Symmetry
) -> None:
    assert_the_least_of_orbits_is_the_same_of_many(name, symmetry)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
@pytest.mark.parametrize("name", ALL)
def test_a_representative_is_a_renaming_and_the_same_for_every_renaming(
    name: str, symmetry: Symmetry
) -> None:
    assert_representatives_are_renamings(name, symmetry, 60)


WIDE: dict[str, Bounds] = {
    "message": message("epoch", replicas=3, records=5, epochs=3, restarts=3, moves=2),
    "atomic": atomic("hw", replicas=4, log_size=8, records=4, epochs=3),
}


@pytest.mark.parametrize("name", WIDE)
def test_a_field_that_lies_in_several_words_is_renamed_like_any_other(name: str) -> None:
    asked = problem_for(*WIDE[name], symmetry=Symmetry.ALL)
    drawn = random.Random(name)
    state = asked.model.initial[0]
    for _ in range(40):
        state = drawn.choice([step.after for step in asked.model.successors(state)] or [state])
        same = list(orbit(state, asked.symmetry.sorts))
        words = representative(asked, state)
        assert words in {each.words for each in same}
        assert {representative(asked, each) for each in drawn.choices(same, k=24)} == {words}

    assert any(place.word < 0 for place in asked.model.layout.places.values())
