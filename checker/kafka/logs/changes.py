"""Change: what a line of a controller, or a record of the metadata log, says that it decided."""

from __future__ import annotations

from dataclasses import dataclass

from checker.kafka.logs.observation import Place


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leader epoch, leader (-1: nobody) and ISR of a partition; None where a line does not say."""

    epoch: int | None = None
    leader: int | None = None
    isr: tuple[int, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all three are known."""
        return self.epoch is not None and self.leader is not None and self.isr is not None

    def over(self, before: PartitionState) -> PartitionState:
        """This state, and what it does not say as it was `before`."""
        return PartitionState(
            before.epoch if self.epoch is None else self.epoch,
            before.leader if self.leader is None else self.leader,
            before.isr if self.isr is None else self.isr,
        )

    def contradicts(self, other: PartitionState) -> bool:
        """Whether both say something of which only one can be so."""
        return self.over(other) != other.over(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The state that the decision with this `number` gave a partition.

    `number` is the partition epoch, zkVersion with ZooKeeper. What `state` leaves open stayed as it
    was before; `before` is what the line says of that. `writer` is the controller, or the dump;
    `moment` orders the lines of one. `is_committed`: the line is written after the decision was
    stored for good. A controller of KRaft writes its lines before that.
    """

    writer: str
    place: Place
    moment: tuple[int, int]
    number: int
    state: PartitionState
    before: PartitionState = PartitionState()
    topic_id: str | None = None
    is_committed: bool = False
    is_unclean: bool = False
    """The leader was not in the ISR, as the line says itself."""
