"""Each trace in examples/traces is what the search finds, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_recorded_traces import FILES, assert_found_byte_for_byte


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_what_the_search_finds_byte_for_byte(path: Path) -> None:
    assert_found_byte_for_byte(path)
