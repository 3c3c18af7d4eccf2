"""Any trace under any version makes a page of two."""

from __future__ import annotations

import pytest

from tests.report.pages.test_comparison_page import SAMPLE, assert_makes_a_page


@pytest.mark.parametrize(("name", "version"), SAMPLE)
def test_any_trace_under_any_version_makes_a_page(name: str, version: str) -> None:
    assert_makes_a_page(name, version)
