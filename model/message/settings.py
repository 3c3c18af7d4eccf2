"""What a run is about: bounds, budgets, the operator's settings, the version's rules.

`Bounds` shape the state. `Settings` are plain numbers: a rule is compiled for those of one
question, or reads them as it runs, so that a whole matrix of them needs one compilation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a cluster is explored.

    `replicas` of one partition; at most `records` ever produced; leader epochs 0..`epochs`.
    """

    replicas: int = 2
    records: int = 2
    epochs: int = 2


class Settings(NamedTuple):
    """What the rules read while they run, each a number with the meaning given in
    `model.message.terms`.

    `features` are the version's, as bits (`model.message.features`). From `restarts` on they are
    budgets: how often a run may contain that fault.
    """

    truncation: int
    features: int
    acks: int
    min_insync_replicas: int
    unclean_leader_election: int
    restart_detection: int
    election_order: int
    high_watermark_before_fetch: int
    parked_fetches: int
    requests_survive: int
    late_metadata: int
    consumer: int
    disk_loss: int
    restarts: int
    moves: int
    power_losses: int
    lost_disks: int
    lost_checkpoints: int
    session_expiries: int
    shutdowns: int
