"""Situation of a partition: what is known of it, numbered by the order of assignment.

Partitions of one situation have the same answers. Their brokers differ; `place` 0 is the first
replica as assigned, which Kafka prefers as leader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from waterline.model.message.environment import Environment
from waterline.model.message.terms import NO_REPLICA, contains


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Situation:
    """Replicas by their places: ISR, ELR and brokers that are down, a bit each.

    `leader` is -1 for none. `min_insync` is the value in effect. `joining` is the number of places
    after its replicas, of brokers that a reassignment may add; -1 if its replicas stay.
    """

    version: str
    replicas: int
    min_insync: int
    acks: str
    unclean: bool
    leader: int
    isr: int
    elr: int
    down: int
    joining: int = -1

    @property
    def brokers(self) -> int:
        """Number of its replicas, and of brokers that are joining."""
        return self.replicas + max(0, self.joining)

    def environment(self, records: int, epochs: int, faults: Iterable[str]) -> Environment:
        """Return the environment of its settings, where each of these faults happens once."""
        budgets = {"restarts": 0}
        for fault in faults:
            budgets[fault] = budgets.get(fault, 0) + 1
        if self.joining >= 0:
            budgets["reassignments"] = budgets.get("reassignments", 0) + 1
            budgets["assigned"] = self.replicas
        return Environment(
            replicas=self.brokers,
            records=records,
            epochs=epochs,
            acks=self.acks,
            min_insync_replicas=self.min_insync,
            unclean_leader_election=self.unclean,
            **budgets,  # type: ignore[arg-type]  # budgets are numbers
        )

    @property
    def seen(self) -> tuple[int, int, int, int]:
        """Leader, ISR, ELR, and brokers that are down."""
        return self.leader, self.isr, self.elr, self.down

    @property
    def at_start(self) -> Situation:
        """A fresh partition with these settings."""
        return replace(self, leader=0, isr=(1 << self.replicas) - 1, elr=0, down=0)

    @property
    def is_available(self) -> bool:
        """True if it has a leader that is up."""
        return self.leader != NO_REPLICA and not contains(self.down, self.leader)

    @property
    def refuses_writes(self) -> bool:
        """True if it has a leader and fewer replicas in sync than acks=all needs."""
        in_sync = (self.isr & ~self.down).bit_count()
        return self.is_available and self.acks == "all" and in_sync < self.min_insync
