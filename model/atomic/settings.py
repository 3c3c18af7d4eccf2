"""Bounds that shape the state of the atomic grain, and settings that its rules read at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicBounds:
    """Size of the explored cluster.

    `replicas` of one partition, each with room for `log_size` records; at most `records` ever
    produced; leader epochs 0..`epochs`.
    """

    replicas: int = 2
    log_size: int = 2
    records: int = 2
    epochs: int = 2


class AtomicSettings(NamedTuple):
    """A version's features, each with a meaning given in `model.atomic.terms`."""

    truncation: int
    fencing: int
