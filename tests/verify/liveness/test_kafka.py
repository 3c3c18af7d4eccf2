"""The long cases of tests/liveness/test_kafka.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.liveness.test_kafka import ENDLESS, TINY, problem_of, require_as_defined
from waterline.checker.checking.run import Run, run
from waterline.checker.problem.problem import sharing
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.versions import VERSIONS


@pytest.fixture(scope="module")
def tiny() -> dict[str, Run]:
    """Every version at bounds that are small enough for the oracle, and that cut."""
    problems = {version: problem_of(version, TINY) for version in VERSIONS}
    shared = sharing(list(problems.values()))
    return {
        version: run(replace(problem, shared=shared), EngineChoice(name="local", threads=1))
        for version, problem in problems.items()
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_engine_says_what_the_definitions_say(version: str, tiny: dict[str, Run]) -> None:
    require_as_defined(tiny[version])


@pytest.mark.parametrize("version", ["kip320", "kraft", "elr"])
def test_the_engine_says_without_bounds_what_the_definitions_say(version: str) -> None:
    found = run(problem_of(version, ENDLESS), EngineChoice(name="local", threads=1))

    require_as_defined(found)
    assert not any(result.unjudged for result in found.result.invariants)
