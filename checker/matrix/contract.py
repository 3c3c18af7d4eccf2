"""What Kafka promises, and so which violations are no fault of the protocol."""

from __future__ import annotations

from model.message.environment import Environment

_ACKNOWLEDGED = ("acknowledged_durable", "acknowledged_somewhere", "acknowledged_on_disk")
_GIVEN_UP = (*_ACKNOWLEDGED, "no_committed_loss", "consistent_read")


def contract(claim: str, environment: Environment) -> str | None:
    """Why breaking `claim` here is within what Kafka promises; None: it promises the claim.

    What as many machines lose as had to have a record is gone: Kafka does not flush before it
    acknowledges. With an unclean election a replica that lacks committed records leads, so they are
    gone, and a consumer may read others in their place. That replicas then agree with their leader
    is promised all the same: `no_divergence_below_hw` is within no contract. Neither is
    `leader_possible`: that nobody can lead is no loss, and an operator is to see it. This judges by
    the settings alone; `checker.matrix.outcome.judged` also looks at the cell that has unclean
    elections off.
    """
    if claim in _ACKNOWLEDGED and environment.acks == "0":
        return "acks=0: nothing is acknowledged, so nothing is promised to a producer"
    if claim in _ACKNOWLEDGED and environment.acks == "1":
        return "acks=1: the leader acknowledges alone, and what it had not passed on goes with it"
    lost = environment.power_losses + environment.lost_disks
    anybody = environment.disk_loss == "any" and lost >= environment.min_insync_replicas
    if claim in _GIVEN_UP and anybody:
        return (
            f"min.insync.replicas={environment.min_insync_replicas}: a record may be in no more "
            "logs than machines lose theirs; Kafka does not flush before it acknowledges"
        )
    if claim in _GIVEN_UP and environment.unclean_leader_election:
        return (
            "unclean.leader.election.enable=true: a replica out of sync may lead, "
            "without the records that it lacks"
        )
    return None


def emptiness(environment: Environment, never: tuple[str, ...]) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if "record_commits" in never:
        return "no record is ever committed, so none can be lost"
    if environment.acks == "0":
        return "acks=0: nothing is acknowledged, so nothing acknowledged can be lost"
    return None
