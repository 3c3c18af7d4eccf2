"""What is claimed of the protocol: one module a claim, sentence first, predicate under it."""

from invariants import (
    acknowledged_durable,
    consistent_read,
    epoch_cache_monotone,
    hw_monotone,
    no_committed_loss,
    no_divergence_below_hw,
    sane,
)
from invariants.claim import ActionProperty, Invariant, Reachable

ALL: tuple[Invariant, ...] = (
    no_committed_loss.CLAIM,
    acknowledged_durable.CLAIM,
    no_divergence_below_hw.CLAIM,
    consistent_read.CLAIM,
    sane.CLAIM,
    epoch_cache_monotone.CLAIM,
)

PROPERTIES: tuple[ActionProperty, ...] = (hw_monotone.CLAIM,)

__all__ = ["ALL", "PROPERTIES", "ActionProperty", "Invariant", "Reachable"]
