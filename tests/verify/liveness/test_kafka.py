"""The long cases of tests/liveness/test_kafka.py."""

from __future__ import annotations

import pytest

from tests.liveness.test_kafka import ENDLESS, problem_of, require_as_defined
from waterline.checker.checking.run import run
from waterline.checker.search.engines.choice import EngineChoice


@pytest.mark.parametrize("version", ["kip320", "kraft", "elr"])
def test_the_engine_says_without_bounds_what_the_definitions_say(version: str) -> None:
    found = run(problem_of(version, ENDLESS), EngineChoice(name="local", threads=1))

    require_as_defined(found)
    assert not any(result.unjudged for result in found.result.invariants)


@pytest.mark.parametrize("version", ["epoch", "kip320", "kraft-without-fenced-check"])
def test_without_bounds_it_is_judged_in_parts_as_it_is_as_a_whole(version: str) -> None:
    choices = [EngineChoice(name="local", threads=1, in_parts=parts) for parts in (False, True)]

    whole, parts = (run(problem_of(version, {**ENDLESS, "moves": 1}), choice) for choice in choices)

    assert parts.result.invariants == whole.result.invariants
    assert [f.replayed.trace for f in parts.findings] == [f.replayed.trace for f in whole.findings]
