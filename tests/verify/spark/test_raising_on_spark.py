"""An error of a claim is the same on Spark as in memory, whoever expands the level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.raising import SPARK, seen_of
from tests.search.test_claims_that_raise import counted
from tests.support.own import own_problem

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("way", SPARK)
def test_what_has_happened_raises_later_all_the_same(
    way: str, spark_context: Any, tmp_path: Path
) -> None:
    problem = own_problem(counted(tmp_path, "sometimes=[first], recoverable=[ends], fair=[go]"))
    expected = seen_of(problem, "one thread", tmp_path)

    assert expected.depth == 1
    assert seen_of(problem, way, tmp_path, spark_context) == expected
