"""What a picture of a Kafka cluster shows, whichever grain its state is of.

Replicas, offsets and epochs are numbers; a record is its id, m1 being 1. What a grain does not have
is empty or None.
"""

from __future__ import annotations

from dataclasses import dataclass

CONTROLLER = "controller"
CONSUMER = "consumer"
NETWORK = "network"


def broker(replica: int) -> str:
    """`r1`"""
    return f"r{replica}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One record in a log: where it is, its id, and the leader epoch that it was written in."""

    offset: int
    record: int
    epoch: int

    def __str__(self) -> str:
        return f"m{self.record}@{self.epoch}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One broker.

    `role` is what it does, in words: `leader e1`. `epoch` is the leader epoch that it knows, None
    for none yet. `high_watermark` is None while it is down; `checkpoint` is that on disk.
    `remote_leos` are (follower, offset), the offset None where the leader does not know it. `isr`
    is that which the leader goes by, `asked_isr` the one that it has asked for, and `asked_note`
    what else is to be said of that. `epoch_cache` are (epoch, first offset). `unanswered` are the
    records whose producers still wait.
    """

    replica: int
    is_up: bool
    leads: bool
    role: str
    epoch: int | None
    log: tuple[Cell, ...]
    high_watermark: int | None
    checkpoint: int | None = None
    durable: int = 0
    remote_leos: tuple[tuple[int, int | None], ...] = ()
    isr: tuple[int, ...] | None = None
    asked_isr: tuple[int, ...] | None = None
    asked_note: str = ""
    epoch_cache: tuple[tuple[int, int], ...] = ()
    unanswered: tuple[int, ...] = ()

    @property
    def leo(self) -> int:
        """The log end offset."""
        return len(self.log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the controller has decided; `leader` and `last_leader` are None for nobody."""

    leader: int | None
    epoch: int | None
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    fenced: tuple[int, ...] = ()
    stopping: tuple[int, ...] = ()
    last_leader: int | None = None


@dataclass(frozen=True, slots=True)
class Flight:
    """A request or an answer on its way between two brokers, in words: `fetch from 1`.

    `is_answer` is True on its way back to who asked; `is_old` for one that outlived its sender.
    """

    sender: int
    receiver: int
    words: str
    is_answer: bool = False
    is_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """All that a state shows: two states that look the same are the same.

    `committed` are the records by offset; `rest` are label and value of what no picture has a place
    for.
    """

    lanes: tuple[Lane, ...]
    control: Control
    flights: tuple[Flight, ...]
    committed: tuple[int, ...]
    acknowledged: tuple[int, ...]
    rest: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Holdings:
    """Who has which records, and what was promised: the little that is read of every state.

    `logs` are the records of each replica by offset. `committed` are the records below the high
    watermark of a leader, by offset; `acknowledged` those that a producer was told of.
    """

    logs: tuple[tuple[int, ...], ...]
    committed: tuple[int, ...]
    acknowledged: frozenset[int]
    up: tuple[bool, ...]

    def holders(self, record: int) -> tuple[int, ...]:
        """The replicas, up or down, whose log has the record."""
        return tuple(r for r, log in enumerate(self.logs) if record in log)
