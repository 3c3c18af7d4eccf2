"""Start of a cluster: brokers, scripted controller, one proxy per pair; with ZooKeeper or KRaft."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.brokers import BrokerSettings, free_ports, name_of
from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.definitions import definitions_in
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.kraft.brokers import KraftBrokers
from waterline.checker.kafka.confirm.kraft.controller import KraftController
from waterline.checker.kafka.confirm.kraft.stage import KraftStage
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import Link
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController
from waterline.checker.kafka.confirm.quorum.state import Watch
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stage import Stage, StepFailed
from waterline.checker.kafka.confirm.wire import Reader, reader_of
from waterline.checker.kafka.confirm.zookeeper import (
    ZOOKEEPER,
    ZookeeperBrokers,
    ZookeeperController,
    ZookeeperStage,
)

Links = dict[tuple[int, int], Link]
Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Cluster:
    """Parameters of the cluster to start."""

    release: KafkaRelease
    jars: Sequence[Path]
    replicas: int
    settings: BrokerSettings
    folder: Path
    announce: Announce


@contextlib.contextmanager
def start_stage(
    release: KafkaRelease,
    jars: Sequence[Path],
    *,
    replicas: int,
    settings: BrokerSettings,
    folder: Path,
    announce: Announce,
    assigned: int = 0,
) -> Iterator[Stage]:
    """A cluster in `folder`, set up; when the block is left no process of it is.

    The first `assigned` brokers have a replica at the start, all of them for 0.
    """
    with contextlib.ExitStack() as ending:
        processes = ending.enter_context(Processes(folder, jars))
        start = _with_kraft if release.is_kraft else _with_zookeeper
        cluster = _Cluster(release, jars, replicas, settings, folder, announce)
        stage = start(ending, processes, cluster)
        try:
            begin(stage, TOPIC, {}, assigned)
        except (StepFailed, NoAnswer) as problem:
            logs = "; ".join(processes.last_lines(name_of(broker)) for broker in range(replicas))
            raise BrokerFailed(f"the cluster could not be set up: {problem}; {logs}") from None
        yield stage


def _with_zookeeper(
    ending: contextlib.ExitStack, processes: Processes, cluster: _Cluster
) -> ZookeeperStage:
    brokers = ZookeeperBrokers(
        cluster.release, cluster.replicas, cluster.settings, cluster.folder, processes
    )
    cluster.announce("starting ZooKeeper")
    brokers.start_zookeeper()
    controller = ending.enter_context(
        ZookeeperController(brokers.zookeeper_port, list(range(cluster.replicas)))
    )
    try:
        controller.take_office(60)
    except BrokerFailed as problem:
        raise BrokerFailed(f"{problem}; {processes.last_lines(ZOOKEEPER)}") from None
    cluster.announce(f"starting {cluster.replicas} brokers")
    for broker in range(cluster.replicas):
        brokers.start(broker)
    for broker in range(cluster.replicas):
        brokers.await_registered(broker, controller)
    links = _start_links(ending, brokers.ports, _written_down(cluster.folder), None)
    return ZookeeperStage(cluster.release, brokers, controller, links)


def _with_kraft(
    ending: contextlib.ExitStack, processes: Processes, cluster: _Cluster
) -> KraftStage:
    definitions = definitions_in(cluster.jars)
    ports = free_ports(cluster.replicas)
    watch = _written_down(cluster.folder)
    links = _start_links(ending, ports, watch, reader_of(definitions))

    def find(reader: int, broker: int, port: int) -> int:
        return port if reader == broker else links[reader, broker].port

    quorum = ending.enter_context(
        ScriptedController(
            definitions,
            cluster.replicas,
            with_eligible_leader_replicas=cluster.release.has_eligible_leader_replicas,
            find=find,
            watch=watch,
        )
    )
    brokers = KraftBrokers(
        quorum.ports,
        cluster.settings,
        cluster.folder,
        processes,
        ports,
        with_directory_ids=cluster.release.at_least(3, 7),
    )
    controller = KraftController(quorum, list(range(cluster.replicas)))
    stage = KraftStage(cluster.release, brokers, controller, links)
    cluster.announce(f"starting {cluster.replicas} brokers, whose KRaft controller is the harness")
    stage.start_all()
    return stage


def _written_down(folder: Path) -> Watch:
    """Every message goes to conversation.txt, with the seconds since the start before it."""
    conversation = folder / "conversation.txt"
    began = time.monotonic()

    def watch(who: str, body: Any) -> None:
        with conversation.open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic() - began:8.3f} {who}: {body}\n")

    return watch


def _start_links(
    ending: contextlib.ExitStack, ports: Sequence[int], watch: Watch, reader: Reader | None
) -> Links:
    """A proxy between any two brokers."""
    links = {
        (follower, leader): Link(name_of(follower), name_of(leader), port, watch, reader=reader)
        for follower in range(len(ports))
        for leader, port in enumerate(ports)
        if follower != leader
    }
    for link in links.values():
        ending.callback(link.close)
    return links


def begin(stage: Stage, topic: str, settings: Mapping[str, str], assigned: int = 0) -> None:
    """A new topic with these settings, and nothing of the one before.

    Broker 0 leads in epoch 0, and everybody knows it; the first `assigned` brokers are replicas,
    all of them for 0, and have fetched once. The first fetch tells the leader that the follower's
    log is empty, as the model begins. Raises `StepFailed`, and `NotHeld` with ZooKeeper where some
    broker has no replica.
    """
    replicas = stage.replicas[: assigned or None]
    for link in stage.links.values():
        link.hold()
    stage.forget_topic()
    stage.brokers.topic = stage.controller.topic = topic
    stage.controller.create_topic(0, settings, replicas)
    decision = stage.controller.current()
    for broker in stage.replicas:
        stage.learn(broker, decision, stage.replicas)
    for follower in replicas[1:]:
        while stage.ask_epoch(follower, 0):
            pass
        stage.leader_fetch(follower, 0)
        stage.receive(follower, 0)


def heal(stage: Stage, leader: int) -> None:
    """Let everything pass, start who is down, and tell everybody the last decision.

    Until the leader and its followers have nothing to do any more. Raises `StepFailed`.
    """
    for link in stage.links.values():
        link.lose()
        link.open()
    for broker in stage.replicas:
        if not stage.brokers.is_up(broker):
            stage.restart(broker)
    decision = stage.controller.current()
    order = [leader, *(broker for broker in stage.replicas if broker != leader)]
    for broker in order:
        if stage.epochs_learned.get(broker, -1) < decision.epoch:
            stage.learn(broker, decision, stage.replicas)
