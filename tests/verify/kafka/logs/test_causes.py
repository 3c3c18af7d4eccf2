"""Entries of the catalogue are recognised in the lines that their own traces write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kafka.logs.test_causes import FOUND, assert_recognised_in_the_lines_of_its_trace


@pytest.mark.parametrize("name", FOUND)
def test_an_entry_is_recognised_in_the_lines_of_its_trace(name: str, tmp_path: Path) -> None:
    assert_recognised_in_the_lines_of_its_trace(name, tmp_path)
