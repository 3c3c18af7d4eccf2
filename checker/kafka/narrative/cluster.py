"""A picture of a Kafka cluster, for a state of either grain.

Replicas, offsets and epochs are numbers; a record is its id, m1 being 1. Parts that a grain does
not have are empty or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

CONTROLLER = "controller"
CONSUMER = "consumer"
NETWORK = "network"
DIFFERENT_MARK = "≠"


def broker(replica: int) -> str:
    """`r1`"""
    return f"r{replica}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One record in a log: its offset, its id, and its leader epoch."""

    offset: int
    record: int
    epoch: int

    def __str__(self) -> str:
        return f"m{self.record}@{self.epoch}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One broker.

    `role` describes its task: `leader e1`. `epoch` is the leader epoch that it knows, None for none
    yet. `high_watermark` is None while it is down; `checkpoint` is the one on disk. `remote_leos`
    are (follower, offset), with None for an offset that the leader does not know. `isr` is the ISR
    that the leader uses, `asked_isr` the one that it has requested, and `asked_note` a remark on
    the request. `epoch_cache` are (epoch, first offset). `unanswered` are the records whose
    producers still wait.
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
    """Decisions of the controller; `leader` and `last_leader` are None for none.

    `replicas` is empty if every broker is one.
    """

    leader: int | None
    epoch: int | None
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    fenced: tuple[int, ...] = ()
    stopping: tuple[int, ...] = ()
    last_leader: int | None = None
    replicas: tuple[int, ...] = ()


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


Pairs = Iterable[tuple[str, str]]
Labelled = Iterator[tuple[str, str]]
"""Facts by Kafka's names for them: a label and a value."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and its value, and whether the step changed it."""

    label: str
    value: str
    is_changed: bool = False


def compare_facts(now: Pairs, before: Pairs | None, absent: str = "") -> tuple[Fact, ...]:
    """Return facts with the changes since `before`; None for no step, which changes nothing.

    One without a value before had `absent`.
    """
    if before is None:
        return tuple(Fact(label, value) for label, value in now)
    old = dict(before)
    return tuple(Fact(label, value, value != old.get(label, absent)) for label, value in now)


def facts_on_disk(lane: Lane) -> Labelled:
    """Yield a broker's facts that survive a crash, besides its log."""
    if lane.checkpoint is not None:
        yield "checkpoint", str(lane.checkpoint)
    if lane.durable:
        yield "recovery point", str(lane.durable)
    if lane.epoch_cache:
        yield "epoch cache", " ".join(f"e{epoch}@{start}" for epoch, start in lane.epoch_cache)


def facts_of_leader(cluster: Cluster, lane: Lane) -> Labelled:
    """Yield a leader's knowledge of the others; a follower has none."""
    if lane.remote_leos:
        known = (_remote_leo(cluster, lane, *each) for each in lane.remote_leos)
        yield "remote LEO", " ".join(known)
    if lane.isr is not None:
        yield "ISR", members_text(lane.isr)
    if lane.asked_isr is not None:
        yield "asks for ISR", f"{members_text(lane.asked_isr)} {lane.asked_note}".rstrip()
    if lane.unanswered:
        yield "ack due", " ".join(f"m{record}" for record in lane.unanswered)


def _remote_leo(cluster: Cluster, leader: Lane, follower: int, leo: int | None) -> str:
    """`r1:2`, with a mark where the follower has not what the leader takes it to have."""
    if leo is None:
        return f"{broker(follower)}:?"
    logs = (leader.log, cluster.lanes[follower].log)
    theirs, there = ([cell.record for cell in log[:leo]] for log in logs)
    return f"{broker(follower)}:{leo}{'' if theirs == there else DIFFERENT_MARK}"


def facts_of_controller(control: Control) -> Labelled:
    """Yield the controller's decisions."""
    yield "leader", "none" if control.leader is None else broker(control.leader)
    yield "epoch", "none" if control.epoch is None else str(control.epoch)
    yield "ISR", members_text(control.isr)
    for label, members in (
        ("ELR", control.elr),
        ("replicas", control.replicas),
        ("fenced", control.fenced),
        ("stopping", control.stopping),
    ):
        if members:
            yield label, members_text(members)
    if control.last_leader is not None:
        yield "last led by", broker(control.last_leader)


def members_text(replicas: tuple[int, ...]) -> str:
    """`{r0,r2}`"""
    return "{" + ",".join(map(broker, replicas)) + "}"


@dataclass(frozen=True, slots=True)
class Holdings:
    """Records of each replica, and promises to clients: the small part read of every state.

    `logs` are the records of each replica by offset. `committed` are the records below a leader's
    high watermark, by offset; `acknowledged` those that a producer knows to be written.
    """

    logs: tuple[tuple[int, ...], ...]
    committed: tuple[int, ...]
    acknowledged: frozenset[int]
    up: tuple[bool, ...]

    def holders(self, record: int) -> tuple[int, ...]:
        """The replicas, up or down, whose log has the record."""
        return tuple(r for r, log in enumerate(self.logs) if record in log)
