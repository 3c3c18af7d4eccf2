"""What is written of every version in every named environment; `make gate` explores it."""

from __future__ import annotations

from contextlib import closing

import pytest

from waterline import invariants
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import search
from waterline.invariants.expected import EXPECTED
from waterline.model.message.environment import ENVIRONMENTS
from waterline.model.message.versions import VERSIONS

KAFKA_4 = "elr-with-last-known-leader"
"""As 4.1 and 4.2; what 4.3 has otherwise begins with a reassignment."""
CELLS = [(environment, version) for environment in ENVIRONMENTS for version in (*VERSIONS, KAFKA_4)]


def test_every_environment_has_an_expectation_of_every_version() -> None:
    claims = {claim.name for claim in (*invariants.ALL, *invariants.PROPERTIES)}

    assert list(EXPECTED) == list(ENVIRONMENTS)
    assert all(list(expected) == [*VERSIONS, KAFKA_4] for expected in EXPECTED.values())
    assert all(set(broken) <= claims for row in EXPECTED.values() for broken in row.values())


BY_VERSION = pytest.mark.parametrize(
    ("version", "is_possible"), [("kip903", True), ("elr", False), (KAFKA_4, True)]
)


def assert_a_leader_is_possible(environment: str, version: str, is_possible: bool) -> None:
    problem = problem_for(version, ENVIRONMENTS[environment], ["leader_possible"])

    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)

    [found] = result.invariants
    assert result.complete
    assert found.verdict is (Verdict.HOLDS if is_possible else Verdict.VIOLATED)


@BY_VERSION
def test_only_an_elr_without_the_last_known_leader_can_leave_nobody_to_lead(
    version: str, is_possible: bool
) -> None:
    assert_a_leader_is_possible("documented", version, is_possible)
