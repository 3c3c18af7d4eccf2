"""Every operation on every kind of operand means what it means in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.test_operations import FUNCTIONS, assert_same


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_operation_means_what_it_means_in_python(name: str, tmp_path: Path) -> None:
    assert_same(name, tmp_path)
