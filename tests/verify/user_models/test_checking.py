"""Every example comes to the same, called from Python and read from its file."""

from __future__ import annotations

from typing import Any

import pytest

from tests.user_models.test_checking import (
    CASES,
    VIOLATED,
    assert_breaks,
    assert_comes_to_the_same,
)


@pytest.mark.parametrize(("name", "bounds"), CASES, ids=str)
def test_every_example_comes_to_the_same(name: str, bounds: dict[str, Any]) -> None:
    assert_comes_to_the_same(name, bounds)


@pytest.mark.parametrize(("name", "bounds"), VIOLATED, ids=str)
def test_these_bounds_break_a_claim(name: str, bounds: dict[str, Any]) -> None:
    assert_breaks(name, bounds)
