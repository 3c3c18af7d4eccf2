"""The atomic grain: a follower's fetch and a leader's view of its followers are one step each.

It is the abstraction of the published TLA+ specification, for larger bounds and for comparing
counts with TLC. It has no request in flight, no restart and no disk; the high watermark never lags
by a round trip. It keeps everything about epochs, the ISR and truncation.
"""

from waterline.model.atomic.environment import AtomicEnvironment
from waterline.model.atomic.versions import NAME, VERSIONS, AtomicVersion, atomic_model

__all__ = [
    "NAME",
    "VERSIONS",
    "AtomicEnvironment",
    "AtomicVersion",
    "atomic_model",
]
