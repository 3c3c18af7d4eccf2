"""The page of every trace on record has all its steps."""

from __future__ import annotations

from tests.report.pages.test_page import assert_pages_have_all_steps
from tests.support.confirmed_traces import TRACES


def test_every_trace_on_record_makes_a_page_with_all_its_steps() -> None:
    assert_pages_have_all_steps(TRACES)
