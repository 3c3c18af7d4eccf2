"""Change: what a line of a controller, or a record of the metadata log, says that it decided."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.checker.kafka.logs.observation import PartitionState, Place

NOTHING = PartitionState()


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
    before: PartitionState = NOTHING
    topic_id: str | None = None
    is_committed: bool = False
    is_unclean: bool = False
    """The leader was not in the ISR, as the line says itself."""
