"""A deployed cluster as far as it was read: settings of brokers, topics with their own, notes.

Unknown parts stay empty. `checker.kafka.matrix.properties` supplies Kafka's defaults when it
prepares the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.deployed.setting import Place, Setting


@dataclass(frozen=True, slots=True, order=True)
class Copies:
    """Number of partitions that have this many replicas, this many of them in sync."""

    replicas: int
    in_sync: int
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition as the controller has it now; `leader` is None for none.

    `replicas` are the brokers in their order of assignment, less the `adding` ones.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A broker that is up, and its rack, if it has one."""

    number: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class EmptyMember:
    """Broker in the ELR of a partition whose log may be empty (C55).

    It is not a replica, or a reassignment `is_adding` it. `place` is where a file says so.
    """

    partition: int
    broker: int
    is_adding: bool
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with its own settings.

    `partitions` is their number, `under_replicated` the number with fewer replicas in sync than
    replicas, `leaderless` the number without a leader; None if unknown. `copies` groups the known
    partitions by replicas and by replicas in sync. `empty_members` are ELR members that may be
    elected without their records. `now` are the partitions themselves, as far as they were read.
    """

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    partitions: int | None = None
    under_replicated: int | None = None
    leaderless: int | None = None
    copies: tuple[Copies, ...] = ()
    empty_members: tuple[EmptyMember, ...] = ()
    now: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything read about a cluster.

    `brokers` are the settings of all brokers. `topics` are the named topics, and all there are if
    `has_all_topics`. `broker_count` is None if unknown. `of_controllers` is the lowest
    min.insync.replicas of the controller-only nodes. `unused` are settings that affect durability
    and are not modelled. `notes` report surprises of the reading, `sources` are its inputs,
    `clusters` the clusters' names, if any. `nodes` are the brokers that are up; none if unknown.
    """

    brokers: Mapping[str, Setting] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    has_all_topics: bool = False
    broker_count: Setting | None = None
    of_controllers: Setting | None = None
    unused: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()


def empty_members(
    partition: int,
    elr: Iterable[int],
    replicas: Collection[int],
    adding: Collection[int],
    place: Place | None = None,
) -> Iterator[EmptyMember]:
    """Yield the brokers of an ELR that are not replicas of the partition, or are being added."""
    for broker in sorted(elr):
        if broker in adding or broker not in replicas:
            yield EmptyMember(partition, broker, broker in adding, place)


def under_replicated(copies: Iterable[Copies]) -> int:
    """Return the number of partitions with fewer replicas in sync than replicas."""
    return sum(each.partitions for each in copies if each.in_sync < each.replicas)


def join(known: Topic | None, found: Topic) -> Topic:
    """Both together; of what both say, that of `found`."""
    if known is None:
        return found
    before = (known.partitions, known.under_replicated, known.leaderless)
    said = (found.partitions, found.under_replicated, found.leaderless)
    partitions, under, leaderless = (
        new if new is not None else old for new, old in zip(said, before, strict=True)
    )
    return replace(
        found,
        settings={**known.settings, **found.settings},
        partitions=partitions,
        under_replicated=under,
        leaderless=leaderless,
        copies=found.copies or known.copies,
        empty_members=found.empty_members or known.empty_members,
        now=found.now or known.now,
    )
