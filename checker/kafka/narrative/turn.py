"""One step of a narrative with its context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.narrative.cluster import Holdings
from waterline.checker.kafka.narrative.fates import Fate, Parting
from waterline.checker.kafka.narrative.grain import Grain
from waterline.counterexamples import Moment
from waterline.model.core.state import State


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
