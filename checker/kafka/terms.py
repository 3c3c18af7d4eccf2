"""Names that a condition on Kafka's states may use: roles, brokers, records, set members."""

from __future__ import annotations

from collections.abc import Mapping

from waterline.model.core.transition_system import Model
from waterline.model.message import terms as words

_NAMES = (
    *("NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET"),
    *("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    *("IDLE", "REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED", "DIVERGING", "CHECKED"),
    *("NO_ANSWER", "GRANTED", "REFUSED"),
    *("ACKS_NONE", "ACKS_LEADER", "ACKS_ALL"),
)
"""Of `model.message.terms`."""


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
