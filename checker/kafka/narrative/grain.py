"""Interface of a grain to the narrative: states, actors, faults; one step with its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from waterline.checker.kafka.narrative.cluster import Cell, Cluster, Holdings
from waterline.checker.kafka.narrative.fates import Fate, Parting
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A step: who had what before and has it after, and what becomes of each record later on.

    `partings` are those of this step. `reasons` are those that the broken claim names first.
    """

    moment: Moment
    settings: Any
    grain: Grain
    was: Holdings
    now: Holdings
    fates: dict[int, Fate]
    partings: tuple[Parting, ...]
    reasons: tuple[str, ...]

    @property
    def number(self) -> int:
        """Number of the step."""
        return self.moment.number

    @property
    def action(self) -> str:
        """Name of the step's action."""
        return self.moment.action

    @property
    def before(self) -> State:
        """The state that it leads from."""
        state: State = self.moment.before
        return state

    @property
    def after(self) -> State:
        """The state that it leads to."""
        state: State = self.moment.after
        return state

    @property
    def replicas(self) -> range:
        """Every replica."""
        return range(len(self.now.logs))

    @property
    def promised(self) -> tuple[int, ...]:
        """The records that are committed or acknowledged after the step."""
        return tuple(sorted({*self.now.committed, *self.now.acknowledged} | self.promised_before))

    @property
    def promised_before(self) -> set[int]:
        """The records that were before it. A high watermark that falls takes no promise back."""
        return {
            fate.record
            for fate in self.fates.values()
            if fate.promised is not None and fate.promised < self.number
        }

    def lacking(self, replica: int) -> tuple[int, ...]:
        """The promised records that the replica does not have after the step."""
        return tuple(r for r in self.promised if r not in self.now.logs[replica])

    def lost_records(self, replica: int) -> tuple[int, ...]:
        """The records that left the replica's log in this step."""
        kept = self.now.logs[replica]
        return tuple(record for record in self.was.logs[replica] if record not in kept)

    def standing(self, record: int) -> str:
        """`already acknowledged`, `already committed`, or `never committed`."""
        text = self.fates[record].standing(self.number)
        return f"already {text}" if text else "never committed"

    def will_lose(self, replica: int) -> tuple[int, ...]:
        """The promised records that the replica has now and loses in a later step."""
        return tuple(
            fate.record
            for fate in self.fates.values()
            for copy in fate.copies
            if copy.replica == replica
            and copy.since <= self.number
            and copy.gone is not None
            and copy.gone > self.number
            and fate.promised is not None
            and fate.promised < copy.gone
        )
