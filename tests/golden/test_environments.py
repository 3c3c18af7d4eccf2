"""Every version in every named environment comes to what is written beside it, exhaustively."""

from __future__ import annotations

from contextlib import closing

import pytest

import invariants
from checker.engines.memory import MemoryEngine
from checker.grains import problem_for
from checker.result import Verdict
from checker.search import search
from invariants.expected import EXPECTED
from model.environment import ENVIRONMENTS
from model.versions import VERSIONS

CELLS = [(environment, version) for environment in ENVIRONMENTS for version in VERSIONS]


def test_every_environment_has_an_expectation_of_every_version() -> None:
    claims = {claim.name for claim in (*invariants.ALL, *invariants.PROPERTIES)}

    assert list(EXPECTED) == list(ENVIRONMENTS)
    assert all(list(expected) == list(VERSIONS) for expected in EXPECTED.values())
    assert all(set(broken) <= claims for row in EXPECTED.values() for broken in row.values())


@pytest.mark.parametrize(("environment", "version"), CELLS)
def test_a_version_breaks_exactly_the_claims_expected(environment: str, version: str) -> None:
    problem = problem_for(version, ENVIRONMENTS[environment])

    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert {found.name for found in result.violated} == set(EXPECTED[environment][version])
    assert Verdict.INCOMPLETE not in {found.verdict for found in result.invariants}
    assert all(claim.depth is not None for claim in result.reachable)
