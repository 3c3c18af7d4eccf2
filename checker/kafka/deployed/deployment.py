"""A deployed cluster as far as it was read: settings of brokers, topics with their own, notes.

Unknown parts stay empty. `checker.kafka.matrix.properties` supplies Kafka's defaults when it
prepares the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.deployed.setting import Place, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition as the controller has it now; `leader` is None for none.

    `replicas` are the brokers in their order of assignment, less the `adding` ones. `elr` and
    `adding` are None if unknown. `place` is where a file says so.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = ()
    adding: tuple[int, ...] | None = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A broker that is up, and its rack, if it has one."""

    number: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with its own settings; `now` are its partitions, as far as they were read."""

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    now: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything read about a cluster.

    `brokers` are the settings of all brokers. `topics` are the named topics, and all there are if
    `has_all_topics`. `broker_count` is None if unknown. `of_controllers` is the lowest
    min.insync.replicas of the controller-only nodes. `unused` are settings that affect durability
    and are not modelled. `notes` report surprises of the reading, `sources` are its inputs,
    `clusters` the clusters' names, if any. `nodes` are the brokers that are up; none if unknown.
    `racks` are the values of broker.rack in files.
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
    racks: tuple[str, ...] = ()

    @property
    def zones(self) -> list[str]:
        """The racks of the brokers, each once; none if some broker that is up has none."""
        of_nodes = [node.rack for node in self.nodes]
        return [] if None in of_nodes else sorted({*filter(None, of_nodes), *self.racks})


def join(known: Topic | None, found: Topic) -> Topic:
    """Both together; of what both say, that of `found`."""
    if known is None:
        return found
    return replace(found, settings={**known.settings, **found.settings}, now=found.now or known.now)
