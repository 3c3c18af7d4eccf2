"""What is claimed of the protocol: one module a claim, sentence first, predicate under it."""

from invariants import (
    acknowledged_durable,
    acknowledged_on_disk,
    acknowledged_somewhere,
    candidates_complete,
    consistent_read,
    consumer_in_order,
    epoch_cache_monotone,
    hw_covers_committed,
    hw_monotone,
    leader_isr_complete,
    leader_possible,
    no_committed_loss,
    no_divergence_below_hw,
    no_forced_exit,
    remote_leo_honest,
    replication_quorum,
    sane,
    valid_isr,
    visible_hw,
)
from model.kit.claim import ActionProperty, Invariant, Reachable

ALL: tuple[Invariant, ...] = (
    no_committed_loss.CLAIM,
    acknowledged_durable.CLAIM,
    acknowledged_somewhere.CLAIM,
    acknowledged_on_disk.CLAIM,
    leader_possible.CLAIM,
    no_divergence_below_hw.CLAIM,
    consistent_read.CLAIM,
    consumer_in_order.CLAIM,
    visible_hw.CLAIM,
    hw_covers_committed.CLAIM,
    remote_leo_honest.CLAIM,
    candidates_complete.CLAIM,
    leader_isr_complete.CLAIM,
    replication_quorum.CLAIM,
    valid_isr.CLAIM,
    epoch_cache_monotone.CLAIM,
    sane.CLAIM,
)

PROPERTIES: tuple[ActionProperty, ...] = (hw_monotone.CLAIM, no_forced_exit.CLAIM)

__all__ = ["ALL", "PROPERTIES", "ActionProperty", "Invariant", "Reachable"]
