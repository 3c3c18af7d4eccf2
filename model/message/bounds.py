"""Bounds of the message grain: sizes, and room for optional parts. Data sorts of its fields."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.model.core.sorts import DataSort, Form, Held
from waterline.model.message.terms import NO_EPOCH, NO_RECORD


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds that shape the state, and room for its optional parts.

    There are `replicas` of one partition, at most `records` ever produced, and leader epochs
    0..`epochs`. The room is for AlterPartition answers in flight, records that a leader has still
    to replay, replicas that it takes for recently caught up or for down, broker epochs that it
    compares, producers that wait at a former leader, a fetch noted later than checked, and moves
    between log directories.
    """

    replicas: int = 2
    records: int = 2
    epochs: int = 2
    late_answers: bool = False
    keeps_waiting: bool = False
    late_booking: bool = False
    late_replay: bool = False
    directory_moves: bool = False
    reassignments: bool = False
    taken_directories: bool = False
    failed_directories: bool = False
    min_isr_writes: bool = False
    future_log: bool = False
    unbounded: bool = False
    cut: bool = False
    caught_up_wait: bool = False
    compares_broker_epochs: bool = False

    @property
    def names(self) -> int:
        """Number of records with a name at one time: without bounds those that logs have room for.

        A follower's answer begins where its log ends, so both together are no longer.
        """
        return self.replicas * self.records if self.unbounded else self.records

    @property
    def highest_epoch(self) -> int:
        """Highest epoch; without bounds the highest name: no state has more, no step starts three.

        An epoch occurs at the controller, as known and as cached by each replica, twice in a stray
        fetch, and in each record; one number may be left out (`order_abstraction.gap_below`).
        """
        if not self.unbounded:
            return self.epochs
        return 2 * self.replicas + self.names + 5


EPOCH = DataSort("epoch", none=NO_EPOCH, none_word="NO_EPOCH", ordered=True, size="epochs")
RECORD = DataSort("record", none=NO_RECORD, none_word="NO_RECORD", size="ids")

ONE_EPOCH = Held(EPOCH)
NEWEST_EPOCH = Held(EPOCH, field="epoch")
"""The controller's, above which there is none."""
ONE_RECORD = Held(RECORD)
"""A record in a log or in an answer."""
ONCE_A_RECORD = Held(RECORD, may_be_gone=True)
"""A record that may be in none: without bounds it has no name then."""
RECORD_INDEX = Held(RECORD, Form.INDEX)
RECORDS = Held(RECORD, Form.MEMBERS)
RECORDS_SO_FAR = Held(RECORD, Form.COUNT)


def so_far(fault: str) -> Held:
    """Return the sort of an uncounted fault's number: a step changes it, or does not."""
    return Held(DataSort(f"count of {fault}"))
