"""Small inputs as people have them (tests/cases) that take seconds."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands
from tests.test_cases import FOLDER, LONG, assert_comes_out_as_it_should


@pytest.mark.parametrize("name", sorted(LONG))
def test_a_case_comes_out_as_it_should(name: str, cli: Commands) -> None:
    assert_comes_out_as_it_should(FOLDER / name, cli)
