"""Values of the two features that distinguish the versions of the atomic grain, and its limits.

They are plain integers, so that the same rule runs interpreted and compiled.
"""

from __future__ import annotations

from typing import NamedTuple

# How much of its log a replica gives up when it becomes a follower.
TO_HIGH_WATERMARK = 0
"""Everything above its own high watermark (Kafka up to 0.10.2)."""
BY_LATEST_EPOCH = 1
"""Everything beyond the leader's end of the last record's epoch (KIP-101)."""
TO_MATCHING_RECORD = 2
"""Everything above the last offset where both logs hold the same record (KIP-279)."""
WHILE_FETCHING = 3
"""Nothing; a follower truncates later, when a fetch shows that it has to."""

# What must agree before a leader and a follower take each other's word.
UNFENCED = 0
"""That the follower names this leader; its epoch and its records do not matter."""
BY_RECORD_EPOCH = 1
"""Also the epoch of the last record in question."""
BY_LEADER_EPOCH = 2
"""Also the leader epoch of both (KIP-320)."""

# Which bound a step would exceed.
WITHIN = 0
RECORDS = 1
EPOCHS = 2
LOG_SIZE = 3
LIMITS = ("within", "records", "epochs", "log-size")


class AtomicSettings(NamedTuple):
    """A version's features, each with a meaning given in `model.atomic.terms`."""

    truncation: int
    fencing: int
