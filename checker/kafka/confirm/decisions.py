"""Decisions about the partition, and what a stage needs of the controller that makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

TOPIC = "t"
"""The topic of a cluster that has one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of the controller: leader, epoch, ISR, and the version of the partition's state.

    The version is that of ZooKeeper's node, or the partition epoch under KRaft. `replicas` are the
    replicas of the partition.
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int
    replicas: tuple[int, ...]


class Decides(Protocol):
    """The controller of one partition at a time, whichever protocol it speaks.

    `decisions` are the last ones of each epoch.
    """

    topic: str
    decisions: dict[int, Decision]

    def create_topic(
        self, leader: int, settings: Mapping[str, str], replicas: Sequence[int]
    ) -> None:
        """The topic, with all replicas in sync and this leader in epoch 0; with topic settings."""

    def current(self) -> Decision:
        """The partition's state, a leader's change of the ISR included."""
