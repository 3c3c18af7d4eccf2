"""Conditions on Kafka's states, and the names in them: roles, brokers, records, set members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waterline.model.core.transition_system import Model
from waterline.model.message import terms as words

if TYPE_CHECKING:
    from waterline.model.own.condition import Condition

_NAMES = (
    *("NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET"),
    *("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    *("IDLE", "REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED", "DIVERGING", "CHECKED"),
    *("NO_ANSWER", "GRANTED", "REFUSED"),
    *("ACKS_NONE", "ACKS_LEADER", "ACKS_ALL"),
)
"""Of `model.message.terms`."""


def condition(text: str, model: Model) -> Condition:
    """Return the condition in a text about the states of a model. Raises `BadCondition`."""
    # Few runs have a condition, and an executor should not import what reads one.
    from waterline.model.own import condition as language  # noqa: PLC0415

    return language.condition(text, model.layout, model.settings, terms(model))


def terms(model: Model) -> Mapping[str, object]:
    """`LEADER`, `r0`, `m1`, `contains(s.isr, r1)`, `size(s.isr)`."""
    sizes = model.layout.sizes
    return {
        **{f"r{replica}": replica for replica in range(sizes["replicas"])},
        **{f"m{record}": record for record in range(1, sizes["records"] + 1)},
        **{name: getattr(words, name) for name in _NAMES},
        "contains": words.contains,
        "size": words.size,
    }
