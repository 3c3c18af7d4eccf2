"""A second search reads what names stand for by then, whatever is rebound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.compiler.test_rebound import GUARDS, assert_read_anew, modules, settled

__all__ = ["modules", "settled"]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("kind", GUARDS)
def test_a_second_search_reads_what_its_names_stand_for_by_then(
    kind: str, modules: Callable[..., Any]
) -> None:
    assert_read_anew(kind, modules)
