"""Compiled means what interpreted means: every version, and many states of each."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.test_compiled_equals_interpreted import (
    ALL_CLAIMS,
    EITHER,
    ENOUGH,
    EVERYTHING,
    FAMILY,
    LARGER,
    SOME,
    WALKED,
    assert_a_block_adds_up,
    assert_a_block_is_worked_out_as_its_states,
    assert_rows_that_are_not_alive_stay_untouched,
    compared_all_over,
    steps_of_any_state,
    verdicts_on_any_state,
    walked_both_ways,
)
from tests.support.states import model_of
from waterline import invariants

SELDOM_BROKEN = {"no_endless_question"}
"""Not by states drawn at random; by reachable ones of kip320-code."""


@pytest.mark.parametrize(("version", "name", "options", "least"), WALKED)
def test_every_reachable_state_has_the_same_successors_and_verdicts(
    version: str, name: str, options: dict[str, Any], least: int
) -> None:
    assert walked_both_ways(version, options, ENOUGH) >= least


@pytest.mark.parametrize(
    ("version", "options", "new", "count"),
    [pytest.param(*space, id=f"{space[0]} {space[3]}") for space in FAMILY],
)
def test_reachable_states_of_the_family_have_the_same_successors_and_verdicts(
    version: str, options: dict[str, Any], new: set[str], count: int
) -> None:
    """`new` are the steps that the space is about, all of which happen in it."""
    reached, fired = compared_all_over(version, options, SOME)

    assert reached == count
    assert new <= fired


@pytest.mark.parametrize("version", EVERYTHING)
@EITHER
def test_any_state_has_the_same_successors_unless_a_step_leaves_a_range(
    tidy: bool, version: str
) -> None:
    same, faulted = steps_of_any_state(version, 500, tidy=tidy)

    assert same > 50
    assert faulted > 50


@pytest.mark.parametrize("version", ALL_CLAIMS)
@EITHER
def test_any_state_has_the_same_verdicts_unless_a_claim_leaves_a_range(
    tidy: bool, version: str
) -> None:
    verdicts, faulted = verdicts_on_any_state(version, 900, tidy=tidy)
    settings = model_of(version, **LARGER, consumer=True).settings

    assert len(verdicts[0]) > 60
    assert tidy or faulted > 60
    if tidy:
        for claim, broken in zip(invariants.ALL, verdicts, strict=True):
            if claim.name not in SELDOM_BROKEN:
                seen = {True, False} if claim.applies(settings) else {False}
                assert set(broken) == seen, claim.name


@pytest.mark.parametrize("version", EVERYTHING)
@EITHER
def test_no_step_or_claim_touches_a_row_that_is_not_alive(tidy: bool, version: str) -> None:
    assert_rows_that_are_not_alive_stay_untouched(version, 300, tidy=tidy)


@pytest.mark.parametrize("version", EVERYTHING)
@EITHER
def test_states_of_a_block_are_worked_out_as_each_of_them_alone(tidy: bool, version: str) -> None:
    assert_a_block_is_worked_out_as_its_states(version, tidy=tidy)


def test_what_a_block_adds_up_to_is_what_its_states_do() -> None:
    assert_a_block_adds_up(ENOUGH)
