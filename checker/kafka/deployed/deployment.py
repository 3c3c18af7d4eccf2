"""A deployed cluster as far as it was read: settings of brokers, topics with their own, notes.

A part that nobody describes is left empty: what Kafka does then is decided where the answer is
prepared (`checker.kafka.matrix.properties`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.deployed.setting import Place, Setting


@dataclass(frozen=True, slots=True, order=True)
class Copies:
    """So many partitions have so many replicas, of which so many are in sync."""

    replicas: int
    in_sync: int
    partitions: int


@dataclass(frozen=True, slots=True)
class EmptyMember:
    """A broker in the ELR of a partition whose log may be empty (C55).

    It is no replica, or a reassignment `is_adding` it. `place` is where a file says so.
    """

    partition: int
    broker: int
    is_adding: bool
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, with the settings that are said of it.

    `partitions` are how many it has, `under_replicated` how many of them have fewer replicas in
    sync than replicas, `leaderless` how many nobody leads; None: not said. `copies` are partitions
    by how many replicas they have, and how many of these are in sync, as far as somebody says it.
    `empty_members` are those of an ELR that may be elected without their records.
    """

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    partitions: int | None = None
    under_replicated: int | None = None
    leaderless: int | None = None
    copies: tuple[Copies, ...] = ()
    empty_members: tuple[EmptyMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What was read of a cluster.

    `brokers` are settings of all brokers. `topics` are those that were named; `has_all_topics` is
    whether there are no others. `broker_count` is None where nobody says it.
    `of_controllers` is the least min.insync.replicas of nodes that are controllers alone. `unused`
    are settings that touch durability and that the model has not. `notes` are what may surprise
    about the reading, `sources` what was read, `clusters` the names of clusters, if they have one.
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


def empty_members(
    partition: int,
    elr: Iterable[int],
    replicas: Collection[int],
    adding: Collection[int],
    place: Place | None = None,
) -> Iterator[EmptyMember]:
    """The brokers in an ELR that are no replica of the partition, or are being added."""
    for broker in sorted(elr):
        if broker in adding or broker not in replicas:
            yield EmptyMember(partition, broker, broker in adding, place)


def under_replicated(copies: Iterable[Copies]) -> int:
    """How many partitions have fewer replicas in sync than replicas."""
    return sum(each.partitions for each in copies if each.in_sync < each.replicas)


def joined(known: Topic | None, found: Topic) -> Topic:
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
    )
