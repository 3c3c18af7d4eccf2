"""Many levels of rows of many widths, each of which is kept once."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from tests.storage.test_compact import CASES, assert_each_row_is_kept_once


@settings(max_examples=60, deadline=None)
@given(**CASES)
def test_each_row_is_kept_once_in_its_first_level_with_its_owner(**case: Any) -> None:
    assert_each_row_is_kept_once(**case)
