"""Observations of a partition in a line or a file of a broker, and decisions of a controller."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from waterline.checker.problem.errors import Refused


class BadLogs(Refused):
    """The logs cannot be read as those of one partition; the message names file and remedy."""


CONTROLLER = -1
"""Key of the controllers' observations among those of brokers, whichever controller was active."""
UNCHANGED = "-2"
"""A leader in a record that does not change it."""
_NUMBER = re.compile(r"\d{1,10}")


class Kind(enum.Enum):
    """The kinds of an observation."""

    LEADS = "leads"
    FOLLOWS = "follows"
    TRUNCATES = "truncates"
    ASKS_TO_SHRINK = "asks to shrink the ISR"
    CHANGES_ISR = "changes the ISR"
    LOADS = "loads its log"
    STOPS = "begins to shut down"
    DELETES = "deletes its log"
    KNOWS = "knows a decision"
    """The broker has read a change within the leader epoch in the metadata log (KRaft)."""
    DECIDES = "decides"
    """A controller's decision about the partition, by its own log or by the metadata log."""
    CUTS_BELOW = "truncates below its high watermark"
    """The broker says so itself, before it truncates."""
    NOTES = "notes"
    """The line is shown with its meaning, and no step has to write it."""
    REASSIGNS = "reassigns replicas"
    """A controller does, by a line without the number of the decision."""
    FETCHES = "fetches"
    """The line names the leader of the epoch that the follower knew."""
    HAS_EPOCHS = "has epochs"
    """The broker's leader-epoch-checkpoint, as it was when the files were copied."""
    HAS_CHECKPOINT = "has a checkpointed high watermark"
    """The broker's replication-offset-checkpoint: the high watermark had this value at some time.
    """


class Span(NamedTuple):
    """The time in a line, as fine as it is written: from `start` to before `end`, nanoseconds."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1; of a file that is meant as a whole the first."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class PartitionState(NamedTuple):
    """State of a partition as the controller has it; None where a line does not say.

    `leader` is -1 for none. `replicas` include those being added or removed.
    """

    epoch: int | None = None
    leader: int | None = None
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """True if leader epoch, leader and ISR are known."""
        return self.epoch is not None and self.leader is not None and self.isr is not None

    def over(self, before: PartitionState) -> PartitionState:
        """Return this state, with the fields that it does not give taken from `before`."""
        return PartitionState(*(b if a is None else a for a, b in zip(self, before, strict=True)))  # type: ignore[arg-type]

    def contradicts(self, other: PartitionState) -> bool:
        """True if the two states cannot both be right."""
        return self.over(other) != other.over(self)


def state_in(groups: Mapping[str, str | None], suffix: str = "") -> PartitionState:
    """The state that the groups of a pattern name."""
    epoch, leader, *sets = (groups.get(name + suffix) for name in PartitionState._fields)
    return PartitionState(
        None if epoch is None else int(epoch),
        None if leader in (None, UNCHANGED) else int(leader),
        *map(members_in, sets),
    )


def members_in(text: str | None) -> tuple[int, ...] | None:
    """Return the brokers of a list, in order; None without a list."""
    return None if text is None else tuple(sorted({int(each) for each in _NUMBER.findall(text)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A claim of `broker` at `place`; None where the line does not say it.

    `offset` is the log end of a leader or follower, and the new one after a truncation.
    `high_watermark` is the old one: makeLeader prints it, and then tries to advance it. `isr` are
    brokers. `leader` is -1 for none. `previous_epoch` is the leader epoch that a leader knew
    before; it is not read from a follower's line, which has it wrong in some releases (3.9.1
    repeats the new one). `partition_epoch` numbers the controller's decisions about the partition;
    it grows by one each time.

    `is_clean` of a start: the process before it ended by a shutdown. `said` is the meaning of a
    line that is shown and not fitted.

    `number` orders the lines of a `stream`, which is a file of one broker with its rotated parts.
    Lines of a broker with the same `band` and another stream have no order. `run` is the time of
    the surrounding lines whose times rise; if times fall, `is_moved` says that the runs of the file
    were sorted by time.
    """

    broker: int
    kind: Kind
    place: Place
    span: Span | None = None
    stream: str = ""
    number: int = 0
    run: Span | None = None
    band: int = 0
    is_moved: bool = False
    epoch: int | None = None
    offset: int | None = None
    high_watermark: int | None = None
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None
    leader: int | None = None
    previous_epoch: int | None = None
    partition_epoch: int | None = None
    topic_id: str | None = None
    is_below_min_isr: bool = False
    is_clean: bool | None = None
    said: str = ""
    epochs: tuple[tuple[int, int], ...] = ()

    @property
    def state(self) -> PartitionState:
        """The state of the partition, as far as the line says it."""
        return PartitionState(*(getattr(self, name) for name in PartitionState._fields))


def within(
    observed: Iterable[Observation], first: int | None, last: int | None
) -> Iterator[Observation]:
    """Lines of these epochs, a line without one by the line of the role before."""
    epoch = None
    for seen in observed:
        epoch = seen.epoch if seen.epoch is not None else epoch
        if epoch is None or is_within(epoch, first, last):
            yield seen


def is_within(epoch: int, first: int | None, last: int | None) -> bool:
    """True if the epoch is within the bounds. A bound of None does not limit it."""
    return (first is None or epoch >= first) and (last is None or epoch <= last)


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
