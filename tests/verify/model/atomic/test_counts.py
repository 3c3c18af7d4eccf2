"""Counts and verdicts are those that TLC finds, within larger bounds and others."""

from __future__ import annotations

import pytest

from tests.model.atomic.test_counts import (
    LARGER,
    OTHER_BOUNDS,
    Row,
    assert_claims_break_as_deep_as_with_tlc,
    assert_size_and_depth_are_those_of_tlc,
    name,
)


@pytest.mark.parametrize("row", LARGER + OTHER_BOUNDS, ids=name)
def test_the_space_has_the_size_and_depth_that_tlc_finds(row: Row) -> None:
    assert_size_and_depth_are_those_of_tlc(row)


@pytest.mark.parametrize("row", LARGER, ids=name)
def test_each_claim_is_first_broken_at_the_depth_that_tlc_finds(row: Row) -> None:
    assert_claims_break_as_deep_as_with_tlc(row)
