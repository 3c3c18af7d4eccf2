"""Interface of a grain to the narrative: states, actors, faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from waterline.checker.kafka.narrative.cluster import Cell, Cluster, Holdings
from waterline.counterexamples import Moment
from waterline.model.core.state import State
from waterline.model.message.epochs import epoch_at


class Grain(Protocol):
    """One of Kafka's grains of atomicity."""

    def holdings(self, state: State) -> Holdings:
        """Return the records of each replica."""

    def cluster(self, settings: Any, state: State) -> Cluster:
        """All that a picture shows."""

    def actor(self, moment: Moment) -> str:
        """Return the actor of a step: `r1`, the controller, the consumer, the network."""

    def is_fault(self, action: str) -> bool:
        """True if the step is something that goes wrong."""

    def leader(self, state: State) -> int | None:
        """Return the leader, if the controller and the leader agree on it; else None."""

    def elected_leader(self, state: State) -> int | None:
        """Return the controller's leader, which need not know of it yet; None for none."""

    def leads(self, state: State, replica: int) -> bool:
        """True if a broker takes itself for the leader, rightly or not."""

    def epoch(self, state: State) -> int:
        """The newest leader epoch, -1 for none."""

    def in_sync(self, state: State) -> int:
        """The controller's ISR, a bit for each replica."""

    def required_replicas(self, settings: Any, state: State, leader: int) -> int:
        """Return the set of replicas that this leader waits for before a record is committed."""

    def may_lead(self, settings: Any, state: State) -> int:
        """The replicas that lead or may be elected."""

    def candidates(self, state: State) -> int:
        """The replicas that may be elected at once."""

    def cause(self, settings: Any, moment: Moment, replica: int) -> str:
        """Describe how a broker loses records in this step: `r1 truncates to offset 0`."""


def logs_of(state: State) -> tuple[tuple[int, ...], ...]:
    """The records of each replica, by offset."""
    return tuple(
        tuple(state.log[r, offset] for offset in range(state.leo[r])) for r in range(state.replicas)
    )


def cells_of(state: State, replica: int) -> tuple[Cell, ...]:
    """The log of a replica."""
    ends = range(state.leo[replica])
    return tuple(Cell(o, state.log[replica, o], epoch_at(state, replica, o)) for o in ends)


def name_list(what: Sequence[str]) -> str:
    """`m1`, `m1 and m2`, `m1, m2 and m3`"""
    return " and ".join(filter(None, (", ".join(what[:-1]), what[-1]))) if what else ""


def records(ids: Sequence[int]) -> str:
    """`m1 and m2`"""
    return name_list([f"m{record}" for record in ids])


def brokers(replicas: Sequence[int]) -> str:
    """`r0 and r1`"""
    return name_list([f"r{replica}" for replica in replicas])
