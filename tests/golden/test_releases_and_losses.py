"""What a fault does under the rules of a release, explored in full: where `holds` said too much."""

from __future__ import annotations

from contextlib import closing

import pytest

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_followed

KAFKA_4_ELR = release_followed((4, 0), is_kraft=True, eligible_leader_replicas=True).version
LOSSES = (
    "no_committed_loss",
    "acknowledged_durable",
    "acknowledged_somewhere",
    "acknowledged_on_disk",
    "leader_possible",
)
ONE_REPLICA = Environment(replicas=1, restarts=0, lost_disks=1)
ONE_IS_ENOUGH = Environment(restarts=0, lost_disks=1)
"""Two replicas, min.insync.replicas=1."""


def depths(version: str, environment: Environment) -> dict[str, int | None]:
    """The violated claims and the least number of steps to each; every state was reached."""
    problem = problem_for(version, environment, LOSSES)

    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert all(claim.depth is not None for claim in result.reachable[:1]), "no record commits"
    return {found.name: found.depth for found in result.violated}


@pytest.mark.parametrize(
    ("version", "environment", "broken"),
    [
        pytest.param(
            "elr",
            ONE_REPLICA,
            {"acknowledged_somewhere": 2, "acknowledged_on_disk": 2, "leader_possible": 2},
            id="one replica, ELR, and nobody leads",
        ),
        pytest.param(
            KAFKA_4_ELR,
            ONE_REPLICA,
            {
                "no_committed_loss": 5,
                "acknowledged_durable": 5,
                "acknowledged_somewhere": 2,
                "acknowledged_on_disk": 2,
            },
            id="one replica, Kafka 4 with ELR",
        ),
        pytest.param(
            "elr",
            ONE_IS_ENOUGH,
            {"acknowledged_somewhere": 4, "acknowledged_on_disk": 4, "leader_possible": 4},
            id="two replicas, the only copy is lost",
        ),
    ],
)
def test_a_record_in_no_log_breaks_a_claim_with_or_without_a_leader(
    version: str, environment: Environment, broken: dict[str, int]
) -> None:
    assert depths(version, environment) == broken
