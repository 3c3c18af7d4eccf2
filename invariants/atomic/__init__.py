"""Claims about the atomic grain: one module a claim, its sentence first, the predicate under it."""

from waterline.invariants.atomic import (
    elected_leader_in_isr,
    leader_in_isr,
    strong_isr,
    type_ok,
    weak_isr,
)
from waterline.model.core.claim import Invariant

ALL: tuple[Invariant, ...] = (
    strong_isr.CLAIM,
    weak_isr.CLAIM,
    elected_leader_in_isr.CLAIM,
    leader_in_isr.CLAIM,
    type_ok.CLAIM,
)

__all__ = ["ALL"]
