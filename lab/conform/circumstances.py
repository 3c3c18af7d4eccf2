"""Settings and bounds of conformance walks.

They are so small that all reachable outcomes are known, and the share that walks have compared can
be reported. A leader answers a fetch with the high watermark from before it, as the code does.
"""

from __future__ import annotations

from dataclasses import dataclass

from waterline.model.message.environment import Environment


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Named environment of a walk, described in a sentence."""

    name: str
    sentence: str
    environment: Environment

    @property
    def topic_settings(self) -> dict[str, str]:
        """Topic settings of the environment, by Kafka's names."""
        environment = self.environment
        return {
            "min.insync.replicas": str(environment.min_insync_replicas),
            "unclean.leader.election.enable": str(environment.unclean_leader_election).lower(),
        }


def _walk_environment(**options: object) -> Environment:
    return Environment(hw_in_response="pre", **options)  # type: ignore[arg-type]


CIRCUMSTANCES = (
    Circumstances(
        "crashes",
        "Two replicas, two crashes that the controller may miss, two moves of leadership.",
        _walk_environment(records=2, epochs=3, restarts=2, moves=2, restart_detection="any"),
    ),
    Circumstances(
        "three",
        "Three replicas, a crash and two moves of leadership.",
        _walk_environment(replicas=3, records=1, epochs=3, restarts=1, moves=2),
    ),
    Circumstances(
        "late",
        "Requests that outlive their sender, decisions that arrive late, a session that expires.",
        _walk_environment(
            records=2,
            epochs=3,
            restarts=1,
            moves=2,
            session_expiries=1,
            requests_survive=True,
            late_metadata=True,
        ),
    ),
    Circumstances(
        "disks",
        "Power, a disk and a checkpoint are lost; unclean election; min.insync.replicas=2.",
        _walk_environment(
            records=2,
            epochs=3,
            restarts=0,
            moves=1,
            power_losses=1,
            lost_disks=1,
            lost_checkpoints=1,
            min_insync_replicas=2,
            unclean_leader_election=True,
        ),
    ),
    Circumstances(
        "shutdowns",
        "Controlled shutdowns, acks=1.",
        _walk_environment(records=2, epochs=4, restarts=1, moves=1, shutdowns=2, acks="1"),
    ),
    Circumstances(
        "reassignments",
        "Two reassignments, one of two brokers a replica at the start; a crash, a shutdown.",
        _walk_environment(
            records=1,
            epochs=4,
            restarts=1,
            shutdowns=1,
            reassignments=2,
            assigned=1,
            min_insync_replicas=2,
            first_partition_replicas=2,
        ),
    ),
)
