"""The long cases of tests/liveness/test_kafka.py."""

from __future__ import annotations

import pytest

from tests.liveness.test_kafka import ENDLESS, problem_of, require_as_defined
from waterline.checker.checking.run import run
from waterline.checker.search.engines.engine import EngineChoice


@pytest.mark.parametrize("version", ["kip320", "kraft", "elr"])
def test_the_engine_says_without_bounds_what_the_definitions_say(version: str) -> None:
    found = run(problem_of(version, ENDLESS), EngineChoice(name="local", threads=1))

    require_as_defined(found)
    assert not any(result.unjudged for result in found.result.invariants)
