"""Partitions of a cluster with their situations, and those that have none, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment, Partition, Topic
from waterline.checker.kafka.deployed.keys import MIN_INSYNC
from waterline.checker.kafka.matrix.deployment_facts import elr_in_danger
from waterline.checker.kafka.matrix.properties import Config
from waterline.checker.kafka.now.histories import states_of_move
from waterline.checker.kafka.now.situation import Situation
from waterline.checker.problem.wording import list_of, quantity
from waterline.model.message.terms import NO_REPLICA

REPLICAS_MAX = 3
"""More replicas are not explored: their histories have too many states."""


@dataclass(frozen=True, slots=True)
class PartitionNow:
    """A partition: its name, its brokers in their order of assignment, and its situation.

    Without a situation `reason` says why there is none, and nothing is known of it. `needed` is
    min.insync.replicas as set. `targets` are the places that a reassignment names, if there is one.
    """

    name: str
    brokers: tuple[int, ...]
    situation: Situation | None = None
    reason: str = ""
    needed: int = 1
    targets: int = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """The partitions of a cluster, and its brokers, by number: those up with their racks.

    `dangers` are sentences about brokers in an ELR that may be elected without its records (C55).
    """

    partitions: tuple[PartitionNow, ...]
    racks: dict[int, str | None]
    down: frozenset[int]
    notes: tuple[str, ...] = ()
    dangers: tuple[str, ...] = ()


def cluster_of(deployment: Deployment, configs: Sequence[Config]) -> Cluster:
    """Return the partitions with their situations. Raises `BadConfig` without partitions."""
    partitions = [each for topic in deployment.topics for each in topic.now]
    everyone = {b for p in partitions for b in (*p.replicas, *(p.adding or ()))}
    if not everyone:
        raise BadConfig(
            "nothing says how partitions are now: give --bootstrap-server, a file of `ask --save`, "
            "or the output of kafka-topics --describe"
        )
    notes: list[str] = []
    racks = {node.number: node.rack for node in deployment.nodes}
    if not racks:
        at_work = {b for p in partitions for b in (p.leader, *p.isr)}
        racks = dict.fromkeys(sorted(everyone & at_work))
        if idle := sorted(everyone - at_work):
            names = list_of([str(broker) for broker in idle], 9)
            notes.append(f"In no ISR, so taken to be down: {names}.")
    down = frozenset(everyone - racks.keys())
    by_topic = {
        (name.partition(" ")[0], config.yours.replicas): config
        for config in configs
        for name in config.topics
    }
    placed = (
        _place(topic, each, by_topic.get((topic.name, len(each.replicas))), down)
        for topic in deployment.topics
        for each in topic.now
    )
    dangers = tuple(text for *_, text in elr_in_danger(deployment))
    return Cluster(tuple(placed), racks, down, tuple(notes), dangers)


def _place(
    topic: Topic, partition: Partition, config: Config | None, down: Collection[int]
) -> PartitionNow:
    brokers = partition.replicas
    name = f"{topic.name}-{partition.number}"
    if reason := next(_reasons(partition, config), ""):
        return PartitionNow(name, brokers, None, reason)
    assert config is not None
    return PartitionNow(
        name,
        brokers,
        Situation(
            version=config.version,
            replicas=len(brokers),
            min_insync=config.yours.min_insync,
            acks=config.acks,
            unclean=config.unclean == "true",
            leader=NO_REPLICA if partition.leader is None else brokers.index(partition.leader),
            isr=_places(brokers, partition.isr),
            elr=_places(brokers, partition.elr or ()),
            down=_places(brokers, down),
        ),
        needed=next(int(each.value) for each in config.settings if each.key == MIN_INSYNC),
    )


def reassigned_cluster(cluster: Cluster, wanted: Mapping[str, Sequence[int]]) -> Cluster:
    """Return the cluster whose partitions are to have these replicas, by name."""
    partitions = []
    for each in cluster.partitions:
        targets = wanted.get(each.name)
        if each.situation is None or targets is None or {*targets} == {*each.brokers}:
            partitions.append(each)
            continue
        joining = [broker for broker in targets if broker not in each.brokers]
        brokers = (*each.brokers, *joining)
        situation = replace(
            each.situation,
            joining=len(joining),
            min_insync=min(each.needed, len(brokers)),
            down=_places(brokers, cluster.down),
        )
        changed = replace(
            each, brokers=brokers, situation=situation, targets=_places(brokers, targets)
        )
        partitions.append(changed)
    dangers = (*cluster.dangers, *_strangers(partitions))
    return replace(cluster, partitions=tuple(partitions), dangers=dangers)


def _strangers(partitions: Iterable[PartitionNow]) -> Iterator[str]:
    """Yield sentences about brokers that a reassignment leaves in an ELR without being replicas."""
    for each in partitions:
        if each.situation is None or not each.targets:
            continue
        strangers = [members for _, members in states_of_move(each.situation, each.targets)]
        left = [
            str(broker)
            for place, broker in enumerate(each.brokers)
            if any(members >> place & 1 for members in strangers)
        ]
        if left:
            yield (
                f"{each.name}: afterwards {list_of(left)} would be in the ELR and no replica "
                "(docs/losses.md)."
            )


def _reasons(partition: Partition, config: Config | None) -> Iterator[str]:
    """Yield why a partition is not explored."""
    if partition.adding is None or partition.elr is None:
        yield "its reassignment or ELR was not read: save it with `ask --save`"
        return
    if partition.adding:
        yield "being reassigned"
    if len(partition.replicas) > REPLICAS_MAX:
        yield f"{quantity(len(partition.replicas), 'replica')}, of at most {REPLICAS_MAX}"
    leader = () if partition.leader is None else (partition.leader,)
    if {*leader, *partition.isr, *partition.elr} - {*partition.replicas}:
        yield "its leader, ISR or ELR has a broker that is not a replica"
    if config is None:
        yield "acks=all is always refused: min.insync.replicas is more than the replicas"
    elif config.acks == "0":
        yield "acks=0: nothing is acknowledged"


def _places(brokers: Sequence[int], members: Collection[int]) -> int:
    return sum(1 << place for place, broker in enumerate(brokers) if broker in members)
