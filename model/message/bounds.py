"""What shapes the state of the message grain: sizes, and room for what is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What shapes the state: `replicas` of one partition; at most `records` ever produced; leader
    epochs 0..`epochs`; room for answers to AlterPartition on their way, for records that a leader
    has still to replay, for whom it takes for caught up lately and for down and the broker epochs
    that it compares, for producers that wait at a broker that leads no more, and for a fetch that
    is noted later than it was checked; whether logs are moved between directories, and how.
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
        """How many records have a name at one time: without bounds those that logs have room for.

        A follower's answer begins where its log ends, so that both together are no longer.
        """
        return self.replicas * self.records if self.unbounded else self.records

    @property
    def highest_epoch(self) -> int:
        """Without bounds the highest name: no state has more epochs, and no step starts three.

        An epoch occurs at the controller, as known and as cached by each replica, twice in a stray
        fetch, and in each record; one number may be left out (`order_abstraction.gap_below`).
        """
        if not self.unbounded:
            return self.epochs
        return 2 * self.replicas + self.names + 5
