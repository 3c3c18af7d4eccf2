"""A claim about steps that Kafka does not keep: the real ones are seldom broken."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import ActionProperty
from waterline.model.core.state import State


def keeps(s: Any, t: Any, c: Any) -> bool:
    """No broker, whatever its role, has a lower high watermark after the step."""
    for r in range(s.replicas):  # noqa: SIM110 - compiled
        if t.hw[r] < s.hw[r]:
            return False
    return True


def explain(s: State, t: State, c: Any) -> str:
    """Whose falls."""
    fallen = [r for r in range(s.replicas) if t.hw[r] < s.hw[r]]
    return f"The high watermark falls on {fallen}."


EVERY_HW = ActionProperty(
    name="every_hw", sentence="No high watermark ever falls.", keeps=keeps, explain=explain
)
